// Package v1 has the old version of Guestbook, which the server converts from and to v2 by the webhook.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/scheme"

	v2 "example.com/guestbook/api/v2"
)

var (
	// GroupVersion is that of the types here.
	GroupVersion = schema.GroupVersion{Group: "books.example.com", Version: "v1"}
	// SchemeBuilder registers them.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
	// AddToScheme adds them to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func init() { SchemeBuilder.Register(&Guestbook{}) }

// GuestbookSpec has the greeting in the field that v2 calls message.
type GuestbookSpec struct {
	Greeting string `json:"greeting,omitempty"`
}

// Guestbook of version v1.
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GuestbookSpec `json:"spec,omitempty"`
}

// DeepCopyObject copies the object.
func (g *Guestbook) DeepCopyObject() runtime.Object {
	out := &Guestbook{TypeMeta: g.TypeMeta, Spec: g.Spec}
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// ConvertTo converts to the hub version.
func (g *Guestbook) ConvertTo(hub conversion.Hub) error {
	out := hub.(*v2.Guestbook)
	out.ObjectMeta, out.Spec.Message = g.ObjectMeta, g.Spec.Greeting
	return nil
}

// ConvertFrom converts from the hub version.
func (g *Guestbook) ConvertFrom(hub conversion.Hub) error {
	in := hub.(*v2.Guestbook)
	g.ObjectMeta, g.Spec.Greeting = in.ObjectMeta, in.Spec.Message
	return nil
}

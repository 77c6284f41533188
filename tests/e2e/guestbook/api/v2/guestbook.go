// Package v2 has the stored version of Guestbook.
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is that of the types here.
	GroupVersion = schema.GroupVersion{Group: "books.example.com", Version: "v2"}
	// SchemeBuilder registers them.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
	// AddToScheme adds them to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func init() { SchemeBuilder.Register(&Guestbook{}, &GuestbookList{}) }

// GuestbookSpec is the desired state.
type GuestbookSpec struct {
	Message string `json:"message,omitempty"`
	Pages   int    `json:"pages,omitempty"`
}

// GuestbookStatus is the observed state.
type GuestbookStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// Guestbook of version v2.
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GuestbookSpec   `json:"spec,omitempty"`
	Status            GuestbookStatus `json:"status,omitempty"`
}

// GuestbookList is a list of Guestbooks.
type GuestbookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Guestbook `json:"items"`
}

// Hub marks the version that the others convert to.
func (*Guestbook) Hub() {}

// DeepCopyInto copies the object.
func (g *Guestbook) DeepCopyInto(out *Guestbook) {
	*out = *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
}

// DeepCopyObject copies the object.
func (g *Guestbook) DeepCopyObject() runtime.Object {
	out := &Guestbook{}
	g.DeepCopyInto(out)
	return out
}

// DeepCopyObject copies the list.
func (l *GuestbookList) DeepCopyObject() runtime.Object {
	out := &GuestbookList{TypeMeta: l.TypeMeta, Items: make([]Guestbook, len(l.Items))}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}

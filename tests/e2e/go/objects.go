package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var crds = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Data:       map[string]string{"key": "value"},
		BinaryData: map[string][]byte{"bytes": {0, 1, 255}},
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       podSpec(),
	}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       podSpec(),
			},
		},
	}
}

// widgetGroup is the API group of a step's own custom resources.
func (e *environment) widgetGroup() schema.GroupVersion {
	return schema.GroupVersion{Group: e.namespace + ".example.com", Version: "v1"}
}

// serveWidgets creates a CRD with status and scale, and waits until it is served.
func (e *environment) serveWidgets(ctx context.Context) error {
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	group := e.widgetGroup().Group
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	size := map[string]any{"size": map[string]any{"type": "integer", "minimum": int64(0)}}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"subresources": map[string]any{
					"status": map[string]any{},
					"scale":  map[string]any{"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
				},
				"schema": map[string]any{
					"openAPIV3Schema": object(map[string]any{"spec": object(size), "status": object(size)}),
				},
			}},
		},
	}}
	if _, err := client.Resource(crds).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	widgets := client.Resource(e.widgetGroup().WithResource("widgets")).Namespace(e.namespace)
	return eventually(ctx, "widgets are served", func() (bool, error) {
		_, err := widgets.List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// Widget is a custom resource as a Go program knows it.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSize `json:"spec,omitempty"`
	Status            WidgetSize `json:"status,omitempty"`
}

// WidgetSize is both what is wanted and what is.
type WidgetSize struct {
	Size int64 `json:"size,omitempty"`
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyObject makes Widget a runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	copied := *w
	copied.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &copied
}

// DeepCopyObject makes WidgetList a runtime.Object.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	copied := &WidgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopyObject().(*Widget))
	}
	return copied
}

// addWidgets makes a scheme know the widgets of a step.
func (e *environment) addWidgets(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(e.widgetGroup(), &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, e.widgetGroup())
}

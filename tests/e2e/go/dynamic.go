package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

func (e *environment) widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": e.widgetGroup().String(),
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"size": size},
	}}
}

// dynamicClient works with custom resources, and with built-in ones, without Go types.
func dynamicClient(ctx context.Context, e *environment) error {
	if err := e.serveWidgets(ctx); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return err
	}
	widgets := client.Resource(e.widgetGroup().WithResource("widgets")).Namespace(e.namespace)
	watcher, err := widgets.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	return all(
		func() error { return dynamicChanges(ctx, widgets, e.widget("w", 1)) },
		func() error { return dynamicEvents(ctx, watcher) },
		func() error { return dynamicPages(ctx, e, widgets) },
		func() error { return dynamicBuiltin(ctx, e, client) },
	)
}

func dynamicChanges(ctx context.Context, widgets dynamic.ResourceInterface, widget *unstructured.Unstructured) error {
	created, err := widgets.Create(ctx, widget, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(created.Object, int64(2), "spec", "size"); err != nil {
		return err
	}
	updated, err := widgets.Update(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(updated.Object, int64(2), "status", "size"); err != nil {
		return err
	}
	if _, err := widgets.UpdateStatus(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return err
	}
	body := []byte(`{"spec":{"replicas":3}}`)
	if _, err := widgets.Patch(ctx, "w", types.MergePatchType, body, metav1.PatchOptions{}, "scale"); err != nil {
		return err
	}
	found, err := widgets.Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return all(
		func() error { return equal("spec", found.Object["spec"], map[string]any{"size": int64(3)}) },
		func() error { return equal("status", found.Object["status"], map[string]any{"size": int64(2)}) },
		func() error { return equal("generation", found.GetGeneration(), int64(3)) },
		func() error { return widgets.Delete(ctx, "w", metav1.DeleteOptions{}) },
	)
}

func dynamicEvents(ctx context.Context, watcher watch.Interface) error {
	changes := []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Deleted}
	for _, wanted := range changes {
		if _, err := next(ctx, watcher, wanted); err != nil {
			return err
		}
	}
	return nil
}

func dynamicPages(ctx context.Context, e *environment, widgets dynamic.ResourceInterface) error {
	for _, name := range []string{"a", "b", "c"} {
		if _, err := widgets.Create(ctx, e.widget(name, 1), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	found, options := 0, metav1.ListOptions{Limit: 1}
	for {
		page, err := widgets.List(ctx, options)
		if err != nil {
			return err
		}
		found += len(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return equal("items of all pages", found, 3)
		}
	}
}

func dynamicBuiltin(ctx context.Context, e *environment, client dynamic.Interface) error {
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(e.namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": "dynamic"},
		"data":       map[string]any{"key": "value"},
	}}
	applied, err := configMaps.Apply(ctx, "dynamic", object, metav1.ApplyOptions{FieldManager: "step"})
	if err != nil {
		return err
	}
	return equal("applied data", applied.Object["data"], map[string]any{"key": "value"})
}

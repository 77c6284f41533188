package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// metadataClient reads, watches and changes objects of which it knows nothing but their metadata.
func metadataClient(ctx context.Context, e *environment) error {
	typed, err := e.typed()
	if err != nil {
		return err
	}
	if _, err := typed.CoreV1().ConfigMaps(e.namespace).Create(ctx, configMap("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	client, err := metadata.NewForConfig(e.config)
	if err != nil {
		return err
	}
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(e.namespace)
	watcher, err := configMaps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	if _, err := next(ctx, watcher, watch.Added); err != nil {
		return err
	}
	label := []byte(`{"metadata":{"labels":{"new":"yes"}}}`)
	patched, err := configMaps.Patch(ctx, "a", types.MergePatchType, label, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	event, err := next(ctx, watcher, watch.Modified)
	if err != nil {
		return err
	}
	seen, is := event.Object.(*metav1.PartialObjectMetadata)
	if !is {
		return fmt.Errorf("a watch of metadata sent %T", event.Object)
	}
	found, err := configMaps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	list, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "new=yes"})
	if err != nil {
		return err
	}
	if err := configMaps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return all(
		func() error { return equal("label in the answer", patched.Labels["new"], "yes") },
		func() error { return equal("label in the event", seen.Labels["new"], "yes") },
		func() error { return equal("uid", found.UID, seen.UID) },
		func() error { return equal("items", len(list.Items), 1) },
		func() error {
			read := e.requests.below("/configmaps/a")
			return equal("form of the answer", read[len(read)-2].received, runtime.ContentTypeProtobuf)
		},
	)
}

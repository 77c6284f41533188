package main

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// watchResume goes on with a watch from where the last one ended; then it lets a RetryWatcher do so.
func watchResume(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	configMaps := client.CoreV1().ConfigMaps(e.namespace)
	start, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range 6 {
		if _, err := configMaps.Create(ctx, configMap(fmt.Sprint("a", i)), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return all(
		func() error { return resumed(ctx, configMaps, start.ResourceVersion) },
		func() error { return e.retried(ctx, configMaps) },
	)
}

// resumed watches two events at a time, each time from the last one that was seen.
func resumed(ctx context.Context, configMaps typedcorev1.ConfigMapInterface, from string) error {
	for i := 0; i < 6; i += 2 {
		watcher, err := configMaps.Watch(ctx, metav1.ListOptions{ResourceVersion: from})
		if err != nil {
			return err
		}
		for j := range 2 {
			event, err := next(ctx, watcher, watch.Added)
			if err != nil {
				return err
			}
			object := event.Object.(*corev1.ConfigMap)
			if err := equal("resumed event", object.Name, fmt.Sprint("a", i+j)); err != nil {
				return err
			}
			from = object.ResourceVersion
		}
		watcher.Stop()
	}
	return nil
}

// retried uses client-go's own way to resume: the server ends each watch after a second, and no event is missed.
func (e *environment) retried(ctx context.Context, configMaps typedcorev1.ConfigMapInterface) error {
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	second, watches := int64(1), atomic.Int32{}
	listWatch := &cache.ListWatch{WatchFuncWithContext: func(
		ctx context.Context, options metav1.ListOptions,
	) (watch.Interface, error) {
		options.TimeoutSeconds = &second
		watches.Add(1)
		return configMaps.Watch(ctx, options)
	}}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, listWatch)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for i, name := range []string{"b0", "b1"} {
		begun := func() (bool, error) { return int(watches.Load()) > i, nil }
		if err := eventually(ctx, "the next watch", begun); err != nil {
			return err
		}
		if _, err := configMaps.Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
			return err
		}
		event, err := next(ctx, watcher, watch.Added)
		if err != nil {
			return err
		}
		if err := equal("event", event.Object.(*corev1.ConfigMap).Name, name); err != nil {
			return err
		}
	}
	return nil
}

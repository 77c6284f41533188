package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cached runs a cache of the step's namespace, prepared by `prepare` before it starts, while `use` works with it.
func (e *environment) cached(
	ctx context.Context,
	prepare func(cache.Cache) error,
	use func(client.Client, cache.Cache) error,
) error {
	c, known, err := e.runtime()
	if err != nil {
		return err
	}
	here := map[string]cache.Config{e.namespace: {}}
	made, err := cache.New(e.config, cache.Options{Scheme: known, DefaultNamespaces: here})
	if err != nil {
		return err
	}
	if err := prepare(made); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- made.Start(ctx) }()
	if !made.WaitForCacheSync(ctx) {
		stop()
		return errors.Join(errors.New("the cache did not come up"), <-ended)
	}
	err = use(c, made)
	stop()
	return errors.Join(err, <-ended)
}

// runtimeCache reads built-in objects from a cache, by name, label and index, and hears of their changes.
func runtimeCache(ctx context.Context, e *environment) error {
	events := &journal{}
	prepare := func(found cache.Cache) error {
		byData := func(object client.Object) []string { return []string{object.(*corev1.ConfigMap).Data["key"]} }
		if err := found.IndexField(ctx, &corev1.ConfigMap{}, "data.key", byData); err != nil {
			return err
		}
		informer, err := found.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		_, err = informer.AddEventHandler(events.handler())
		return err
	}
	return e.cached(ctx, prepare, func(c client.Client, found cache.Cache) error {
		a, b := configMap("a"), configMap("b")
		a.Namespace, b.Namespace = e.namespace, e.namespace
		b.Data["key"] = "other"
		list, indexed := &corev1.ConfigMapList{}, client.MatchingFields{"data.key": "other"}
		read := &corev1.ConfigMap{}
		return all(
			func() error { return c.Create(ctx, a) },
			func() error { return c.Create(ctx, b) },
			func() error { return events.become(ctx, []string{"add a", "add b"}) },
			func() error { return found.Get(ctx, client.ObjectKeyFromObject(b), read) },
			func() error { return equal("uid in the cache", read.UID, b.UID) },
			func() error { return found.List(ctx, list, client.MatchingLabels{"app": "web"}) },
			func() error { return equal("labelled objects", len(list.Items), 2) },
			func() error { return found.List(ctx, list, indexed) },
			func() error { return equal("indexed objects", len(list.Items), 1) },
			func() error { return c.Delete(ctx, a) },
			func() error { return events.become(ctx, []string{"add a", "add b", "delete a"}) },
			e.listIsStreamed,
		)
	})
}

// runtimeCacheOfCustomResources does the same with widgets: as a Go type and as metadata alone.
func runtimeCacheOfCustomResources(ctx context.Context, e *environment) error {
	if err := e.serveWidgets(ctx); err != nil {
		return err
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(e.widgetGroup().WithKind("Widget"))
	whole, partial := &journal{}, &journal{}
	prepare := func(found cache.Cache) error {
		for _, one := range []struct {
			object client.Object
			events *journal
		}{{&Widget{}, whole}, {metadata, partial}} {
			informer, err := found.GetInformer(ctx, one.object, cache.BlockUntilSynced(false))
			if err != nil {
				return err
			}
			if _, err := informer.AddEventHandler(one.events.handler()); err != nil {
				return err
			}
		}
		return nil
	}
	return e.cached(ctx, prepare, func(c client.Client, found cache.Cache) error {
		widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: e.namespace}, Spec: WidgetSize{Size: 1}}
		read, wanted := &Widget{}, []string{"add w", "update w"}
		return all(
			func() error { return c.Create(ctx, widget) },
			func() error { widget.Spec.Size = 2; return c.Update(ctx, widget) },
			func() error { return whole.become(ctx, wanted) },
			func() error { return partial.become(ctx, wanted) },
			func() error { return found.Get(ctx, client.ObjectKeyFromObject(widget), read) },
			func() error { return equal("size in the cache", read.Spec.Size, int64(2)) },
		)
	})
}

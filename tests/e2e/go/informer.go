package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// journal is what event handlers were told, in order.
type journal struct {
	mutex   sync.Mutex
	entries []string
}

func (j *journal) add(format string, arguments ...any) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, arguments...))
}

func (j *journal) read() []string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return slices.Clone(j.entries)
}

// handler notes what happens to objects, which have names.
func (j *journal) handler() cache.ResourceEventHandlerDetailedFuncs {
	name := func(object any) string {
		if gone, is := object.(cache.DeletedFinalStateUnknown); is {
			object = gone.Obj
		}
		return object.(metav1.Object).GetName()
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if initial {
				j.add("initial %s", name(object))
			} else {
				j.add("add %s", name(object))
			}
		},
		UpdateFunc: func(_, object any) { j.add("update %s", name(object)) },
		DeleteFunc: func(object any) { j.add("delete %s", name(object)) },
	}
}

// sharedInformers runs an informer that streams its list, and looks at lister, index and handlers.
func sharedInformers(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	configMaps := client.CoreV1().ConfigMaps(e.namespace)
	for _, name := range []string{"a", "b"} {
		if _, err := configMaps.Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour, informers.WithNamespace(e.namespace))
	informer := factory.Core().V1().ConfigMaps()
	events := &journal{}
	if _, err := informer.Informer().AddEventHandler(events.handler()); err != nil {
		return err
	}
	byData := cache.Indexers{"data": func(object any) ([]string, error) {
		return []string{object.(*corev1.ConfigMap).Data["key"]}, nil
	}}
	if err := informer.Informer().AddIndexers(byData); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the informer of %v did not come up", kind)
		}
	}
	if err := e.listIsStreamed(); err != nil {
		return err
	}
	changed := configMap("b")
	changed.Data["key"] = "other"
	if _, err := configMaps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := configMaps.Create(ctx, configMap("c"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := configMaps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	wanted := []string{"initial a", "initial b", "update b", "add c", "delete a"}
	if err := events.become(ctx, wanted); err != nil {
		return err
	}
	listed, err := informer.Lister().ConfigMaps(e.namespace).List(labels.SelectorFromSet(labels.Set{"app": "web"}))
	if err != nil {
		return err
	}
	indexed, err := informer.Informer().GetIndexer().ByIndex("data", "other")
	if err != nil {
		return err
	}
	return all(
		func() error { return equal("listed objects", len(listed), 2) },
		func() error { return equal("indexed objects", len(indexed), 1) },
	)
}

// informerThroughRestart runs an informer while the server is killed and started again. It prints `watching` when it
// follows, and ends when it hears of the ConfigMap `after`; it goes on where it was, and lists nothing again.
func informerThroughRestart(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	configMaps := client.CoreV1().ConfigMaps(e.namespace)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(e.namespace))
	events := &journal{}
	if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(events.handler()); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSync(ctx.Done())
	// A watch that ends within a second and without an event makes client-go list again.
	if _, err := configMaps.Create(ctx, configMap("before"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := events.become(ctx, []string{"add before"}); err != nil {
		return err
	}
	fmt.Println("watching")
	if err := events.become(ctx, []string{"add before", "add after"}); err != nil {
		return err
	}
	lists := 0
	for _, one := range e.requests.below("/configmaps") {
		if one.method == "GET" && (one.query.Get("watch") == "" || one.query.Get("sendInitialEvents") == "true") {
			lists++
		}
	}
	return equal("lists, streamed or not", lists, 1)
}

// become waits until the handlers were told all of these, the initial ones in any order.
func (j *journal) become(ctx context.Context, wanted []string) error {
	var found []string
	err := eventually(ctx, "events", func() (bool, error) {
		found = j.read()
		return len(found) >= len(wanted), nil
	})
	if err != nil {
		return fmt.Errorf("%w: got %v, want %v", err, found, wanted)
	}
	initial := 0
	for initial < len(found) && found[initial][0] == 'i' {
		initial++
	}
	slices.Sort(found[:initial])
	return equal("events", found, wanted)
}

// listIsStreamed makes sure that the informer began with a watch and without a list.
func (e *environment) listIsStreamed() error {
	for _, one := range e.requests.below("/configmaps") {
		switch {
		case one.method != "GET":
		case one.query.Get("watch") == "":
			return fmt.Errorf("the informer listed: %v", one.query)
		case one.query.Get("sendInitialEvents") != "true":
			return fmt.Errorf("the informer's first watch is no list: %v", one.query)
		default:
			return nil
		}
	}
	return nil
}

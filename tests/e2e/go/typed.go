package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// inProtobuf is a configuration that sends protobuf and accepts nothing else.
func inProtobuf(config *rest.Config) *rest.Config {
	found := rest.CopyConfig(config)
	found.ContentType = runtime.ContentTypeProtobuf
	found.AcceptContentTypes = runtime.ContentTypeProtobuf
	return found
}

func (e *environment) typed() (*kubernetes.Clientset, error) {
	return kubernetes.NewForConfig(inProtobuf(e.config))
}

// typedClients works with a Deployment and with ConfigMaps as generated clients do, in protobuf alone.
func typedClients(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	return all(
		func() error { return typedDeployment(ctx, client, e.namespace) },
		func() error { return typedConfigMaps(ctx, client, e.namespace) },
		func() error { return typedEvents(ctx, client, e.namespace) },
		func() error { return typedErrors(ctx, client, e.namespace) },
		e.onlyProtobuf,
	)
}

func typedDeployment(ctx context.Context, client kubernetes.Interface, namespace string) error {
	deployments := client.AppsV1().Deployments(namespace)
	created, err := deployments.Create(ctx, deployment("web", 2), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := equal("defaulted strategy", string(created.Spec.Strategy.Type), "RollingUpdate"); err != nil {
		return err
	}
	created.Spec.Template.Spec.Containers[0].Image = "web:2"
	updated, err := deployments.Update(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	updated.Status.Replicas, updated.Status.ReadyReplicas = 2, 2
	reported, err := deployments.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = 5
	if _, err := deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
		return err
	}
	found, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return all(
		func() error { return equal("generation after an update", updated.Generation, int64(2)) },
		func() error { return equal("ready replicas", reported.Status.ReadyReplicas, int32(2)) },
		func() error { return equal("replicas of the scale", scale.Status.Replicas, int32(2)) },
		func() error { return equal("scaled replicas", *found.Spec.Replicas, int32(5)) },
		func() error { return equal("image", found.Spec.Template.Spec.Containers[0].Image, "web:2") },
		func() error { return deployments.Delete(ctx, "web", metav1.DeleteOptions{}) },
	)
}

func typedConfigMaps(ctx context.Context, client kubernetes.Interface, namespace string) error {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := configMaps.Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	first, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "app=web", Limit: 2})
	if err != nil {
		return err
	}
	rest, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "app=web", Limit: 2, Continue: first.Continue})
	if err != nil {
		return err
	}
	var found []string
	for _, one := range append(first.Items, rest.Items...) {
		found = append(found, one.Name)
	}
	if err := equal("pages", found, []string{"a", "b", "c"}); err != nil {
		return err
	}
	if err := equal("bytes", first.Items[0].BinaryData["bytes"], []byte{0, 1, 255}); err != nil {
		return err
	}
	only := metav1.ListOptions{LabelSelector: "app=web"}
	if err := configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, only); err != nil {
		return err
	}
	left, err := configMaps.List(ctx, only)
	if err != nil {
		return err
	}
	return equal("items after deletecollection", len(left.Items), 0)
}

func typedEvents(ctx context.Context, client kubernetes.Interface, namespace string) error {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	watcher, err := configMaps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=watched"})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	made, err := configMaps.Create(ctx, configMap("watched"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["key"] = "other"
	if _, err := configMaps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := configMaps.Delete(ctx, "watched", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, wanted := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event, err := next(ctx, watcher, wanted)
		if err != nil {
			return err
		}
		if _, is := event.Object.(*corev1.ConfigMap); !is {
			return fmt.Errorf("a watch of ConfigMaps sent %T", event.Object)
		}
	}
	return nil
}

func typedErrors(ctx context.Context, client kubernetes.Interface, namespace string) error {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	made, err := configMaps.Create(ctx, configMap("a"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, absent := configMaps.Get(ctx, "none", metav1.GetOptions{})
	_, taken := configMaps.Create(ctx, configMap("a"), metav1.CreateOptions{})
	_, invalid := configMaps.Create(ctx, configMap("No Name"), metav1.CreateOptions{})
	made.ResourceVersion = "1"
	_, stale := configMaps.Update(ctx, made, metav1.UpdateOptions{})
	return all(
		func() error { return refused("get", absent, apierrors.IsNotFound) },
		func() error { return refused("create again", taken, apierrors.IsAlreadyExists) },
		func() error { return refused("create with a wrong name", invalid, apierrors.IsInvalid) },
		func() error { return refused("update of an old state", stale, apierrors.IsConflict) },
	)
}

// onlyProtobuf looks at what went over the wire.
func (e *environment) onlyProtobuf() error {
	var others []string
	for _, one := range e.requests.below("") {
		if one.status < 300 && !strings.HasPrefix(one.received, runtime.ContentTypeProtobuf) {
			others = append(others, one.method+" "+one.path+" "+one.received)
		}
		if one.sent != "" && one.sent != runtime.ContentTypeProtobuf {
			others = append(others, one.method+" "+one.path+" sent "+one.sent)
		}
	}
	return equal("exchanges in other forms", slices.Compact(others), []string(nil))
}

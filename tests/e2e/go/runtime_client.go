package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runtime makes controller-runtime's client, which knows the built-in types and the widgets of the step.
func (e *environment) runtime() (client.Client, *runtime.Scheme, error) {
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		return nil, nil, err
	}
	e.addWidgets(known)
	made, err := client.New(e.config, client.Options{Scheme: known})
	return made, known, err
}

// runtimeClient works with built-in objects through controller-runtime's client.
func runtimeClient(ctx context.Context, e *environment) error {
	c, _, err := e.runtime()
	if err != nil {
		return err
	}
	web := deployment("web", 1)
	web.Namespace = e.namespace
	key := client.ObjectKeyFromObject(web)
	if err := c.Create(ctx, web); err != nil {
		return err
	}
	taken := web.DeepCopy()
	taken.ResourceVersion = ""
	if err := refused("create again", c.Create(ctx, taken), apierrors.IsAlreadyExists); err != nil {
		return err
	}
	before := web.DeepCopy()
	web.Spec.Template.Spec.Containers = append(web.Spec.Template.Spec.Containers, corev1.Container{Name: "side", Image: "side"})
	if err := c.Patch(ctx, web, client.StrategicMergeFrom(before)); err != nil {
		return err
	}
	before = web.DeepCopy()
	web.Annotations = map[string]string{"by": "merge"}
	locked := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, web, locked); err != nil {
		return err
	}
	if err := refused("patch of an old state", c.Patch(ctx, before.DeepCopy(), locked), apierrors.IsConflict); err != nil {
		return err
	}
	web.Status.Replicas = 1
	if err := c.Status().Update(ctx, web); err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	if err := c.SubResource("scale").Update(ctx, web, client.WithSubResourceBody(scale)); err != nil {
		return err
	}
	found := &appsv1.Deployment{}
	if err := c.Get(ctx, key, found); err != nil {
		return err
	}
	return all(
		func() error { return equal("containers", len(found.Spec.Template.Spec.Containers), 2) },
		func() error { return equal("annotation", found.Annotations["by"], "merge") },
		func() error { return equal("status", found.Status.Replicas, int32(1)) },
		func() error { return equal("replicas", *found.Spec.Replicas, int32(3)) },
		func() error {
			return c.Delete(ctx, found, client.PropagationPolicy(metav1.DeletePropagationBackground))
		},
		func() error { return refused("get", c.Get(ctx, key, found), apierrors.IsNotFound) },
		func() error { return runtimeCollections(ctx, c, e.namespace) },
		func() error { return runtimeEviction(ctx, c, e.namespace) },
	)
}

func runtimeCollections(ctx context.Context, c client.Client, namespace string) error {
	for _, name := range []string{"a", "b", "c"} {
		made := configMap(name)
		made.Namespace = namespace
		if err := c.Create(ctx, made); err != nil {
			return err
		}
	}
	here, labelled := client.InNamespace(namespace), client.MatchingLabels{"app": "web"}
	list := &corev1.ConfigMapList{}
	if err := c.List(ctx, list, here, labelled, client.Limit(2)); err != nil {
		return err
	}
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := c.List(ctx, partial, here, client.MatchingFields{"metadata.name": "b"}); err != nil {
		return err
	}
	if err := c.DeleteAllOf(ctx, &corev1.ConfigMap{}, here, labelled); err != nil {
		return err
	}
	left := &corev1.ConfigMapList{}
	if err := c.List(ctx, left, here, labelled); err != nil {
		return err
	}
	return all(
		func() error { return equal("first page", len(list.Items), 2) },
		func() error { return equal("metadata alone", len(partial.Items), 1) },
		func() error { return equal("left", len(left.Items), 0) },
	)
}

func runtimeEviction(ctx context.Context, c client.Client, namespace string) error {
	evicted := pod("evicted")
	evicted.Namespace = namespace
	if err := c.Create(ctx, evicted); err != nil {
		return err
	}
	if err := c.SubResource("eviction").Create(ctx, evicted, &policyv1.Eviction{}); err != nil {
		return err
	}
	return refused("get", c.Get(ctx, client.ObjectKeyFromObject(evicted), evicted), apierrors.IsNotFound)
}

// runtimeClientOfCustomResources does the same with a type of the program's own.
func runtimeClientOfCustomResources(ctx context.Context, e *environment) error {
	if err := e.serveWidgets(ctx); err != nil {
		return err
	}
	c, _, err := e.runtime()
	if err != nil {
		return err
	}
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: e.namespace}, Spec: WidgetSize{Size: 1}}
	if err := c.Create(ctx, widget); err != nil {
		return err
	}
	widget.Spec.Size = 2
	if err := c.Update(ctx, widget); err != nil {
		return err
	}
	before := widget.DeepCopyObject().(*Widget)
	widget.Status.Size = 2
	if err := c.Status().Patch(ctx, widget, client.MergeFrom(before)); err != nil {
		return err
	}
	wanted := e.widget("w", 3)
	wanted.SetNamespace(e.namespace)
	owner := []client.ApplyOption{client.FieldOwner("step"), client.ForceOwnership}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), owner...); err != nil {
		return err
	}
	list := &WidgetList{}
	if err := c.List(ctx, list, client.InNamespace(e.namespace)); err != nil {
		return err
	}
	negative := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: e.namespace}, Spec: WidgetSize{Size: -1}}
	return all(
		func() error { return equal("items", len(list.Items), 1) },
		func() error { return equal("spec", list.Items[0].Spec.Size, int64(3)) },
		func() error { return equal("status", list.Items[0].Status.Size, int64(2)) },
		func() error { return equal("generation", list.Items[0].Generation, int64(3)) },
		func() error { return refused("a negative size", c.Create(ctx, negative), apierrors.IsInvalid) },
		func() error { return c.Delete(ctx, widget) },
	)
}

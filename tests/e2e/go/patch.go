package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// patches changes a Deployment by each type of patch.
func patches(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	deployments := client.AppsV1().Deployments(e.namespace)
	if _, err := deployments.Create(ctx, deployment("web", 1), metav1.CreateOptions{}); err != nil {
		return err
	}
	var found *appsv1.Deployment
	patch := func(kind types.PatchType, body string, options metav1.PatchOptions, subresources ...string) func() error {
		return func() error {
			found, err = deployments.Patch(ctx, "web", kind, []byte(body), options, subresources...)
			return err
		}
	}
	containers := `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}`
	applied := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"by":"apply"}}}`
	test := `[{"op":"test","path":"/spec/replicas","value":9}]`
	none := metav1.PatchOptions{}
	return all(
		patch(types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":2}]`, none),
		func() error { return equal("after a JSON patch", *found.Spec.Replicas, int32(2)) },
		patch(types.MergePatchType, `{"metadata":{"annotations":{"by":"merge"}},"spec":{"replicas":null}}`, none),
		func() error { return equal("after a merge patch", found.Annotations["by"], "merge") },
		func() error { return equal("a default after a merge patch", *found.Spec.Replicas, int32(1)) },
		patch(types.StrategicMergePatchType, containers, none),
		func() error { return equal("containers", len(found.Spec.Template.Spec.Containers), 2) },
		patch(types.ApplyPatchType, applied, metav1.PatchOptions{FieldManager: "step"}),
		func() error { return equal("after an apply", found.Labels["by"], "apply") },
		patch(types.MergePatchType, `{"status":{"replicas":7}}`, none, "status"),
		func() error { return equal("after a patch of the status", found.Status.Replicas, int32(7)) },
		func() error {
			return refused("a test that fails", patch(types.JSONPatchType, test, none)(), apierrors.IsInvalid)
		},
	)
}

package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

func applied(namespace string, replicas int32, image string) *appsv1.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	container := corev1.Container().WithName("web").WithImage(image)
	return appsv1.Deployment("web", namespace).WithSpec(appsv1.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1.PodTemplateSpec().
			WithLabels(labels).
			WithSpec(corev1.PodSpec().WithContainers(container))))
}

// applyConfigurations applies a Deployment from Go, conflicts, takes over, and reads back what it owns.
func applyConfigurations(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	deployments := client.AppsV1().Deployments(e.namespace)
	mine := metav1.ApplyOptions{FieldManager: "mine"}
	made, err := deployments.Apply(ctx, applied(e.namespace, 2, "web:1"), mine)
	if err != nil {
		return err
	}
	again, err := deployments.Apply(ctx, applied(e.namespace, 2, "web:1"), mine)
	if err != nil {
		return err
	}
	if err := equal("resourceVersion after the same again", again.ResourceVersion, made.ResourceVersion); err != nil {
		return err
	}
	theirs := appsv1.Deployment("web", e.namespace).WithSpec(appsv1.DeploymentSpec().WithReplicas(5))
	_, err = deployments.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "theirs"})
	if err := refused("apply of a field of somebody else", err, apierrors.IsConflict); err != nil {
		return err
	}
	forced, err := deployments.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "theirs", Force: true})
	if err != nil {
		return err
	}
	owned, err := appsv1.ExtractDeployment(forced, "mine")
	if err != nil {
		return err
	}
	status := appsv1.Deployment("web", e.namespace).WithStatus(appsv1.DeploymentStatus().WithReplicas(5))
	reported, err := deployments.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "controller"})
	if err != nil {
		return err
	}
	return all(
		func() error { return equal("replicas", *forced.Spec.Replicas, int32(5)) },
		func() error { return equal("replicas that are still mine", owned.Spec.Replicas, (*int32)(nil)) },
		func() error {
			return equal("images that are mine", *owned.Spec.Template.Spec.Containers[0].Image, "web:1")
		},
		func() error { return equal("applied status", reported.Status.Replicas, int32(5)) },
	)
}

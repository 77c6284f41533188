package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// evictions evicts pods under a budget that allows one disruption.
func evictions(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := runPod(ctx, client, e.namespace, name); err != nil {
			return err
		}
	}
	if err := allowOne(ctx, client, e.namespace); err != nil {
		return err
	}
	pods := client.CoreV1().Pods(e.namespace)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: e.namespace} }
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: meta("a")}); err != nil {
		return err
	}
	_, gone := pods.Get(ctx, "a", metav1.GetOptions{})
	exhausted := client.PolicyV1().Evictions(e.namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: meta("b")})
	budgets := client.PolicyV1().PodDisruptionBudgets(e.namespace)
	budget, err := budgets.Get(ctx, "budget", metav1.GetOptions{})
	if err != nil {
		return err
	}
	_, noted := budget.Status.DisruptedPods["a"]
	violates := func(err error) bool {
		return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
	}
	return all(
		func() error { return refused("get of the evicted pod", gone, apierrors.IsNotFound) },
		func() error { return refused("eviction beyond the budget", exhausted, violates) },
		func() error { return equal("disruptions left", budget.Status.DisruptionsAllowed, int32(0)) },
		func() error { return equal("the evicted pod is noted", noted, true) },
		func() error { return budgets.Delete(ctx, "budget", metav1.DeleteOptions{}) },
		func() error { return pods.EvictV1beta1(ctx, &policyv1beta1.Eviction{ObjectMeta: meta("c")}) },
	)
}

func runPod(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	pods := client.CoreV1().Pods(namespace)
	made, err := pods.Create(ctx, pod(name), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Phase = corev1.PodRunning
	made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

func allowOne(ctx context.Context, client kubernetes.Interface, namespace string) error {
	budgets := client.PolicyV1().PodDisruptionBudgets(namespace)
	two := intstr.FromInt32(2)
	made, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &two,
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: made.Generation,
		DisruptionsAllowed: 1,
		CurrentHealthy:     3,
		DesiredHealthy:     2,
		ExpectedPods:       3,
	}
	_, err = budgets.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// leaderElection lets a first candidate lead and resign, and a second one take over.
func leaderElection(ctx context.Context, e *environment) error {
	client, err := e.typed()
	if err != nil {
		return err
	}
	first, resign := context.WithCancel(ctx)
	defer resign()
	second, stop := context.WithCancel(ctx)
	defer stop()
	terms := make(chan string, 4)
	firstEnded, err := candidate(first, client, e.namespace, "first", terms)
	if err != nil {
		return err
	}
	if err := leads(ctx, terms, "first"); err != nil {
		return err
	}
	if _, err := candidate(second, client, e.namespace, "second", terms); err != nil {
		return err
	}
	leases := client.CoordinationV1().Leases(e.namespace)
	held, err := leases.Get(ctx, "lock", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := equal("holder", *held.Spec.HolderIdentity, "first"); err != nil {
		return err
	}
	resign()
	<-firstEnded
	if err := leads(ctx, terms, "second"); err != nil {
		return err
	}
	taken, err := leases.Get(ctx, "lock", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return all(
		func() error { return equal("next holder", *taken.Spec.HolderIdentity, "second") },
		func() error { return equal("transitions", *taken.Spec.LeaseTransitions, *held.Spec.LeaseTransitions+1) },
	)
}

// candidate runs for the lease until its context ends; what it gives is closed when it has given the lease back.
func candidate(
	ctx context.Context, client kubernetes.Interface, namespace, name string, terms chan<- string,
) (<-chan struct{}, error) {
	lock, err := resourcelock.New(
		resourcelock.LeasesResourceLock, namespace, "lock", client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: name},
	)
	if err != nil {
		return nil, err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   5 * time.Second,
		RenewDeadline:   3 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { terms <- name },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	return ended, nil
}

func leads(ctx context.Context, terms <-chan string, wanted string) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for the term of %s: %w", wanted, ctx.Err())
	case name := <-terms:
		return equal("leader", name, wanted)
	}
}

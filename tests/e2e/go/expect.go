package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

const pollInterval = 20 * time.Millisecond

// equal fails unless the two values are the same.
func equal(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%s: got %v, want %v", what, got, want)
}

// all runs checks in order and stops at the first that fails.
func all(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// refused fails unless an error is there and is of the right kind.
func refused(what string, err error, is func(error) bool) error {
	if err == nil {
		return fmt.Errorf("%s: went through and should not have", what)
	}
	if !is(err) {
		return fmt.Errorf("%s: refused with %T %w", what, err, err)
	}
	return nil
}

// eventually waits until a condition holds.
func eventually(ctx context.Context, what string, condition func() (bool, error)) error {
	holds := func(context.Context) (bool, error) { return condition() }
	if err := wait.PollUntilContextCancel(ctx, pollInterval, true, holds); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// next gives the next event of a watch that is of one of the types.
func next(ctx context.Context, watcher watch.Interface, wanted watch.EventType) (watch.Event, error) {
	for {
		select {
		case <-ctx.Done():
			return watch.Event{}, fmt.Errorf("waiting for %s: %w", wanted, ctx.Err())
		case event, open := <-watcher.ResultChan():
			switch {
			case !open:
				return event, errors.New("the watch ended")
			case event.Type == wanted:
				return event, nil
			case event.Type != watch.Bookmark:
				return event, fmt.Errorf("watch: got %s %v, want %s", event.Type, event.Object, wanted)
			}
		}
	}
}

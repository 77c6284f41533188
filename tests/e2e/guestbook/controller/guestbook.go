// Package controller keeps a ConfigMap with the pages of each Guestbook.
package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v2 "example.com/guestbook/api/v2"
)

// Reconciler writes the ConfigMap and the status.
type Reconciler struct{ client.Client }

// Reconcile brings the ConfigMap of one Guestbook to its desired state.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	book := &v2.Guestbook{}
	if err := r.Get(ctx, request.NamespacedName, book); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pages := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: book.Name, Namespace: book.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, pages, func() error {
		pages.Data = map[string]string{"message": book.Spec.Message, "pages": fmt.Sprint(book.Spec.Pages)}
		return controllerutil.SetControllerReference(book, pages, r.Scheme())
	})
	if err != nil || book.Status.Ready {
		return ctrl.Result{}, err
	}
	book.Status.Ready = true
	return ctrl.Result{}, r.Status().Update(ctx, book)
}

// Default sets the number of pages.
func (r *Reconciler) Default(_ context.Context, book *v2.Guestbook) error {
	if book.Spec.Pages == 0 {
		book.Spec.Pages = 10
	}
	return nil
}

// ValidateCreate refuses books without a message.
func (r *Reconciler) ValidateCreate(_ context.Context, book *v2.Guestbook) (admission.Warnings, error) {
	if book.Spec.Message == "" {
		return nil, fmt.Errorf("spec.message: required")
	}
	return nil, nil
}

// ValidateUpdate applies the same rule.
func (r *Reconciler) ValidateUpdate(ctx context.Context, _, book *v2.Guestbook) (admission.Warnings, error) {
	return r.ValidateCreate(ctx, book)
}

// ValidateDelete allows everything.
func (r *Reconciler) ValidateDelete(context.Context, *v2.Guestbook) (admission.Warnings, error) {
	return nil, nil
}

// SetupWithManager registers controller and webhooks.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	webhooks := ctrl.NewWebhookManagedBy(manager, &v2.Guestbook{}).WithDefaulter(r).WithValidator(r)
	if err := webhooks.Complete(); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).For(&v2.Guestbook{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

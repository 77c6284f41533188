package controller

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "example.com/guestbook/api/v1"
	v2 "example.com/guestbook/api/v2"
)

var (
	env = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "config", "webhook")},
		},
	}
	k8s client.Client
	ctx = context.Background()
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	must(v1.AddToScheme(scheme.Scheme))
	must(v2.AddToScheme(scheme.Scheme))
	env.Scheme = scheme.Scheme
	env.CRDInstallOptions.Scheme = scheme.Scheme
	config, err := env.Start()
	must(err)
	defer func() { must(env.Stop()) }()
	k8s, err = client.New(config, client.Options{Scheme: scheme.Scheme})
	must(err)
	hooks := env.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme.Scheme,
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		}),
	})
	must(err)
	must((&Reconciler{manager.GetClient()}).SetupWithManager(manager))
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() { must(manager.Start(running)) }()
	until(func() bool { return manager.GetWebhookServer().StartedChecker()(nil) == nil })
	return m.Run()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func until(condition func() bool) {
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	log.Fatal("the condition has not become true")
}

func book(name, message string) *v2.Guestbook {
	return &v2.Guestbook{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       v2.GuestbookSpec{Message: message},
	}
}

func found(object client.Object) bool {
	return k8s.Get(ctx, client.ObjectKeyFromObject(object), object) == nil
}

func TestTheControllerWritesAConfigMapAndTheStatus(t *testing.T) {
	made := book("written", "hello")
	must(k8s.Create(ctx, made))
	pages := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written", Namespace: "default"}}
	until(func() bool { return found(pages) && found(made) && made.Status.Ready })
	if pages.Data["message"] != "hello" || pages.Data["pages"] != "10" {
		t.Fatalf("data is %v: the mutating webhook sets ten pages", pages.Data)
	}
}

func TestTheValidatingWebhookRefuses(t *testing.T) {
	if err := k8s.Create(ctx, book("refused", "")); !apierrors.IsForbidden(err) {
		t.Fatalf("error is %v", err)
	}
}

func TestTheSchemaRefuses(t *testing.T) {
	wrong := book("wrong", "hello")
	wrong.Spec.Pages = -1
	if err := k8s.Create(ctx, wrong); !apierrors.IsInvalid(err) {
		t.Fatalf("error is %v", err)
	}
}

func TestTheOldVersionIsConverted(t *testing.T) {
	old := &v1.Guestbook{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "default"}}
	old.Spec.Greeting = "good day"
	must(k8s.Create(ctx, old))
	read := book("old", "")
	until(func() bool { return found(read) })
	if read.Spec.Message != "good day" {
		t.Fatalf("message is %q", read.Spec.Message)
	}
}

func TestAnAddedUserHasNoRights(t *testing.T) {
	user, err := env.AddUser(envtest.User{Name: "somebody", Groups: []string{"readers"}}, nil)
	must(err)
	theirs, err := client.New(user.Config(), client.Options{Scheme: scheme.Scheme})
	must(err)
	if err := theirs.List(ctx, &v2.GuestbookList{}); !apierrors.IsForbidden(err) {
		t.Fatalf("error is %v", err)
	}
}

func TestGarbageIsCollected(t *testing.T) {
	made := book("collected", "hello")
	must(k8s.Create(ctx, made))
	pages := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "collected", Namespace: "default"}}
	until(func() bool { return found(pages) })
	must(k8s.Delete(ctx, made))
	until(func() bool { return !found(pages) })
}

func TestNamespacesEnd(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	must(k8s.Create(ctx, namespace))
	must(k8s.Delete(ctx, namespace))
	until(func() bool { return !found(namespace) })
}

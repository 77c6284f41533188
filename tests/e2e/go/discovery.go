package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// discoveryAndMapper finds out what the server serves: in one document, in many, and by kinds and short names.
func discoveryAndMapper(ctx context.Context, e *environment) error {
	if err := e.serveWidgets(ctx); err != nil {
		return err
	}
	config := inProtobuf(e.config)
	config.AcceptContentTypes += "," + runtime.ContentTypeJSON // the version and the schemas are nothing else
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return all(
		func() error { return e.discovered(client) },
		func() error { return e.aggregatedInOneDocument() },
		func() error { return e.discovered(client.WithLegacy()) },
		func() error { return e.evictionIsListed(client) },
		func() error { return e.mapped(memory.NewMemCacheClient(client)) },
		func() error { return described(client) },
	)
}

// discovered compares what is found with what has to be there.
func (e *environment) discovered(client discovery.DiscoveryInterface) error {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			found[list.GroupVersion+" "+resource.Name] = true
		}
	}
	for _, wanted := range []string{"v1 pods", "apps/v1 deployments", e.widgetGroup().String() + " widgets/scale"} {
		if !found[wanted] {
			return fmt.Errorf("%s is not discovered", wanted)
		}
	}
	preferred, err := discovery.ServerPreferredResources(client)
	if err != nil {
		return err
	}
	for _, list := range preferred {
		if list.GroupVersion == "autoscaling/v1" && len(list.APIResources) > 0 {
			return fmt.Errorf("%s is preferred for %v", list.GroupVersion, list.APIResources)
		}
	}
	return nil
}

func (e *environment) aggregatedInOneDocument() error {
	read := e.requests.below("/apis")
	if !strings.Contains(read[0].received, "as=APIGroupDiscoveryList") {
		return fmt.Errorf("/apis came as %s", read[0].received)
	}
	return equal("documents of groups", len(e.requests.below("/apis/apps/v1")), 0)
}

// evictionIsListed reads the document of one group and version, which comes in protobuf.
func (e *environment) evictionIsListed(client discovery.DiscoveryInterface) error {
	list, err := client.ServerResourcesForGroupVersion("v1")
	if err != nil {
		return err
	}
	read := e.requests.below("/api/v1")
	if err := equal("form of /api/v1", read[len(read)-1].received, runtime.ContentTypeProtobuf); err != nil {
		return err
	}
	wanted := metav1.APIResource{
		Name: "pods/eviction", Namespaced: true, Group: "policy", Version: "v1", Kind: "Eviction",
		Verbs: metav1.Verbs{"create"},
	}
	for _, resource := range list.APIResources {
		if resource.Name == wanted.Name {
			return equal("pods/eviction", resource, wanted)
		}
	}
	return fmt.Errorf("%s is not listed", wanted.Name)
}

func (e *environment) mapped(client discovery.CachedDiscoveryInterface) error {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(client)
	deployments, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	widgets, err := mapper.KindFor(schema.GroupVersionResource{Resource: "widgets", Group: e.widgetGroup().Group})
	if err != nil {
		return err
	}
	short, err := restmapper.NewShortcutExpander(mapper, client, nil).ResourceFor(schema.GroupVersionResource{Resource: "deploy"})
	if err != nil {
		return err
	}
	wanted := appsv1.SchemeGroupVersion.WithResource("deployments")
	return all(
		func() error { return equal("resource of a kind", deployments.Resource, wanted) },
		func() error { return equal("scope", string(deployments.Scope.Name()), "namespace") },
		func() error { return equal("kind of a resource", widgets, e.widgetGroup().WithKind("Widget")) },
		func() error { return equal("resource of a short name", short, wanted) },
	)
}

// described reads the version and the schemas.
func described(client discovery.DiscoveryInterface) error {
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	if err := equal("major version", version.Major, "1"); err != nil {
		return err
	}
	swagger, err := client.OpenAPISchema()
	if err != nil {
		return err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	if paths["apis/apps/v1"] == nil || len(swagger.GetDefinitions().GetAdditionalProperties()) == 0 {
		return fmt.Errorf("the schemas are not described")
	}
	_, err = paths["apis/apps/v1"].Schema(runtime.ContentTypeJSON)
	return err
}

// Real Go clients against a server. Each step uses one of them as its own documentation shows it, prints `ok STEP`,
// or says what went wrong and exits with 1.
//
// Usage: KUBECONFIG=... go-clients STEP NAMESPACE. The namespace has to be there, and is the step's own.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const stepTimeout = 60 * time.Second

// environment is what a step gets: how to reach the server, and a namespace of its own.
type environment struct {
	config    *rest.Config
	namespace string
	requests  *recorder
}

var steps = map[string]func(context.Context, *environment) error{
	"typed":           typedClients,
	"dynamic":         dynamicClient,
	"informer":        sharedInformers,
	"leader":          leaderElection,
	"patch":           patches,
	"apply":           applyConfigurations,
	"eviction":        evictions,
	"metadata":        metadataClient,
	"discovery":       discoveryAndMapper,
	"resume":          watchResume,
	"restart":         informerThroughRestart,
	"runtime-client":  runtimeClient,
	"runtime-crd":     runtimeClientOfCustomResources,
	"runtime-cache":   runtimeCache,
	"runtime-watches": runtimeCacheOfCustomResources,
}

func main() {
	if len(os.Args) != 3 || steps[os.Args[1]] == nil {
		fail("usage: %s STEP NAMESPACE, with one of these steps: %v", os.Args[0], names())
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail("kubeconfig: %v", err)
	}
	config.QPS, config.Burst = -1, -1
	requests := &recorder{}
	config.Wrap(requests.wrap)
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	if err := steps[os.Args[1]](ctx, &environment{config, os.Args[2], requests}); err != nil {
		fail("%s: %v", os.Args[1], err)
	}
	fmt.Println("ok", os.Args[1])
}

func names() []string {
	var found []string
	for name := range steps {
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

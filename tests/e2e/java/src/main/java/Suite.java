import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** fabric8 against the server in KUBECONFIG: a CRD, objects, server-side apply, a watch and garbage collection. */
public class Suite {
  static final String CRD =
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: guestbooks.books.example.com}
      spec:
        group: books.example.com
        scope: Namespaced
        names: {kind: Guestbook, plural: guestbooks}
        versions:
        - name: v1
          served: true
          storage: true
          schema:
            openAPIV3Schema:
              type: object
              properties: {spec: {type: object, properties: {message: {type: string}}}}
      """;

  static void check(boolean condition, String message) {
    if (!condition) {
      throw new AssertionError(message);
    }
  }

  static GenericKubernetesResource book(Object message) {
    var book = new GenericKubernetesResource();
    book.setApiVersion("books.example.com/v1");
    book.setKind("Guestbook");
    book.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName("web").build());
    book.setAdditionalProperties(Map.of("spec", Map.of("message", message)));
    return book;
  }

  public static void main(String[] arguments) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      client.load(new ByteArrayInputStream(CRD.getBytes(StandardCharsets.UTF_8))).create();
      client.apiextensions().v1().customResourceDefinitions().withName("guestbooks.books.example.com")
          .waitUntilCondition(
              crd -> crd.getStatus() != null && crd.getStatus().getConditions().stream()
                  .anyMatch(each -> each.getType().equals("Established") && each.getStatus().equals("True")),
              30, TimeUnit.SECONDS);
      var context = new ResourceDefinitionContext.Builder()
          .withGroup("books.example.com").withVersion("v1").withKind("Guestbook").withPlural("guestbooks")
          .withNamespaced(true).build();
      var books = client.genericKubernetesResources(context).inNamespace("default");
      var made = books.resource(book("hello")).create();
      try {
        books.resource(book(7)).forceConflicts().serverSideApply();
        throw new AssertionError("the schema refuses a number");
      } catch (KubernetesClientException refused) {
        check(refused.getCode() == 422 || refused.getCode() == 500, "code is " + refused.getCode());
      }
      books.resource(book("good day")).forceConflicts().serverSideApply();

      var pages = client.configMaps().inNamespace("default");
      var added = new CountDownLatch(1);
      var gone = new CountDownLatch(1);
      try (var watch = pages.withName("web").watch(new Watcher<ConfigMap>() {
        @Override
        public void eventReceived(Action action, ConfigMap object) {
          (action == Action.DELETED ? gone : added).countDown();
        }

        @Override
        public void onClose(WatcherException cause) {}
      })) {
        pages.resource(new ConfigMapBuilder().withNewMetadata().withName("web").addNewOwnerReference()
            .withApiVersion("books.example.com/v1").withKind("Guestbook").withName("web")
            .withUid(made.getMetadata().getUid()).endOwnerReference().endMetadata().build()).create();
        check(added.await(30, TimeUnit.SECONDS), "the watch sees the ConfigMap");
        books.withName("web").delete();
        check(gone.await(30, TimeUnit.SECONDS), "garbage is collected");
      }
      System.out.println("ok");
    }
  }
}

//! kube against the server in KUBECONFIG: a CRD, objects, server-side apply and a watch. Prints `ok`, or panics.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{watcher, WatchStreamExt};
use kube::{Client, CustomResourceExt, ResourceExt};
use serde_json::json;

#[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[kube(group = "books.example.com", version = "v1", kind = "Guestbook", namespaced)]
struct GuestbookSpec {
    message: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Guestbook::crd()).await?;
    let established = await_condition(definitions, "guestbooks.books.example.com", conditions::is_crd_established());
    tokio::time::timeout(Duration::from_secs(30), established).await??;

    let books: Api<Guestbook> = Api::default_namespaced(client.clone());
    let made = books.create(&PostParams::default(), &Guestbook::new("web", GuestbookSpec { message: "hello".into() })).await?;
    let wrong = json!({"apiVersion": "books.example.com/v1", "kind": "Guestbook", "spec": {"message": 7}});
    let refused = books.patch("web", &PatchParams::apply("suite"), &Patch::Apply(&wrong)).await;
    assert!(matches!(refused, Err(kube::Error::Api(_))), "the schema refuses a number");
    let wanted = json!({"apiVersion": "books.example.com/v1", "kind": "Guestbook", "spec": {"message": "good day"}});
    let forced = PatchParams::apply("suite").force();
    assert_eq!(books.patch("web", &forced, &Patch::Apply(&wanted)).await?.spec.message, "good day");

    let pages: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let owned = json!({"metadata": {"name": "web", "ownerReferences": [{"apiVersion": "books.example.com/v1",
        "kind": "Guestbook", "name": "web", "uid": made.uid().unwrap()}]}});
    pages.create(&PostParams::default(), &serde_json::from_value(owned)?).await?;
    let seen = watcher(pages.clone(), watcher::Config::default()).applied_objects().boxed();
    let first = tokio::time::timeout(Duration::from_secs(30), seen.into_future()).await?.0;
    assert!(first.transpose()?.is_some());
    books.delete("web", &DeleteParams::default()).await?;
    let gone = await_condition(pages, "web", conditions::is_deleted(""));
    let _ = tokio::time::timeout(Duration::from_secs(30), gone).await;
    let namespaces: Api<Namespace> = Api::all(client);
    assert!(namespaces.list(&ListParams::default()).await?.items.len() >= 4);
    println!("ok");
    Ok(())
}

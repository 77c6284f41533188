"""Encryption at rest: values are encrypted on their way into the store, and decrypted on their way out.

What lies in the store is what Kubernetes writes: `k8s:enc:<provider>:v1:<key>:` and the provider's bytes.
Source: apiserver pkg/storage/value, pkg/server/options/encryptionconfig (1.36).
"""

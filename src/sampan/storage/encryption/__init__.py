"""Encryption at rest: values are encrypted on the way into the store and decrypted on the way out.

The stored format is that of Kubernetes: `k8s:enc:<provider>:v1:<key>:` and the provider's bytes.

Source: apiserver pkg/storage/value, pkg/server/options/encryptionconfig (1.36).
"""

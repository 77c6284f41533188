"""KMS v2: a plug-in on a Unix socket encrypts the seeds from which the keys of the values are derived.

Source: apiserver pkg/storage/value/encrypt/envelope/kmsv2, kms apis/v2/api.proto (1.36).
"""

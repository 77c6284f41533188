"""KMS v2: a plug-in on a Unix socket keeps the key that encrypts the seeds which encrypt the values.

Source: apiserver pkg/storage/value/encrypt/envelope/kmsv2, kms apis/v2/api.proto (1.36).
"""

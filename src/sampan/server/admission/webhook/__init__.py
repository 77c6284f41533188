"""Admission plug-ins that call webhooks: MutatingAdmissionWebhook and ValidatingAdmissionWebhook."""

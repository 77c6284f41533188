"""The admission plug-ins that ask others over HTTPS: MutatingAdmissionWebhook and ValidatingAdmissionWebhook."""

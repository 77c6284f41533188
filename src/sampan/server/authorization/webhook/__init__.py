"""Authorization by webhook: a SubjectAccessReview is posted to an external server."""

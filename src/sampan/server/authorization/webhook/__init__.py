"""Authorization by webhook: a SubjectAccessReview is posted to a server of somebody else's."""

"""Controllers of CertificateSigningRequests: approval for kubelets, signing, and cleanup."""

from sampan.controllers.certificate_signing.approving import set_up as set_up_approving
from sampan.controllers.certificate_signing.cleaner import set_up as set_up_cleaner
from sampan.controllers.certificate_signing.serving import set_up as set_up_serving
from sampan.controllers.certificate_signing.signing import set_up as set_up_signing

__all__ = ["set_up_approving", "set_up_cleaner", "set_up_serving", "set_up_signing"]

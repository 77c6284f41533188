"""Conversions of the built-in types between the versions served and the hub.

A conversion changes what the versions say differently, `apiVersion` included.
"""

from sampan.registry.conversions.api_version import ApiVersionConversion
from sampan.registry.conversions.crd import CustomResourceDefinitionConversion
from sampan.registry.conversions.event import EventConversion
from sampan.registry.conversions.hpa import HorizontalPodAutoscalerConversion
from sampan.registry.definition import Conversion

__all__ = [
    "ApiVersionConversion",
    "CustomResourceDefinitionConversion",
    "EventConversion",
    "HorizontalPodAutoscalerConversion",
    "builtin_conversions",
]


def builtin_conversions() -> dict[tuple[str, str, str], Conversion]:
    """By group, resource and version. Hubs: autoscaling/v2, core/v1 events, apiextensions.k8s.io/v1, batch/v1."""
    cron_jobs = {
        ("batch", "cronjobs", version): ApiVersionConversion(f"batch/{version}", "batch/v1")
        for version in ("v1beta1", "v2alpha1")
    }
    return {
        **cron_jobs,
        ("autoscaling", "horizontalpodautoscalers", "v1"): HorizontalPodAutoscalerConversion(),
        ("events.k8s.io", "events", "v1"): EventConversion(),
        ("apiextensions.k8s.io", "customresourcedefinitions", "v1beta1"): CustomResourceDefinitionConversion(),
    }

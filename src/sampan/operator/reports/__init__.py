"""Reports about controllers as JSON: their queues, and the last reconciles of their objects."""

from sampan.operator.reports.controller_reports import PATH, ControllerReport, ControllerReports
from sampan.operator.reports.place import ANNOTATION, Place
from sampan.operator.reports.report_lease import ReportLease

__all__ = ["ANNOTATION", "PATH", "ControllerReport", "ControllerReports", "Place", "ReportLease"]

"""Campaigns: change the fields of an object one at a time, and check that the operator follows.

    report = run_campaign(Campaign(set_up_operator, BOAT, crds=[Boat]))
    assert not report.findings, report

A change must end in the same state as if the object had been created with the new value. The change back must end in
the first state, even if the operator failed on the value. Source of the method: Acto (SOSP 2023).
"""

from sampan.testing.campaign.campaign import Campaign
from sampan.testing.campaign.changes import GeneratedChange
from sampan.testing.campaign.run import BaseFailed, CampaignReport, Divergence, run_campaign

__all__ = ["BaseFailed", "Campaign", "CampaignReport", "Divergence", "GeneratedChange", "run_campaign"]

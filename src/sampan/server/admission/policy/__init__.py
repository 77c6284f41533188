"""The admission plug-ins that evaluate policies: MutatingAdmissionPolicy and ValidatingAdmissionPolicy."""

"""Tests of the page at `/dashboard/`, in Debian's Chromium. Without it, or without Node, they are skipped."""

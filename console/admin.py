"""Tells the admin's pages about tables what stands above their columns."""

from __future__ import annotations

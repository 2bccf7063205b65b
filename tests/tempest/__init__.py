# SPDX-License-Identifier: Apache-2.0
"""The suites that OpenStack deployments test an orchestration service with, run unchanged."""

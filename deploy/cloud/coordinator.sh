#!/bin/sh
# User data (AWS, Azure) or startup-script (Google Cloud) of the coordinator, on an image that deploy/install made.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=coordinator
# aws, gcp or azure
CLOUD=aws
# aws: a parameter's name; gcp: rekindle-coordinator; azure: https://VAULT.vault.azure.net/secrets/rekindle-coordinator
SECRET=/rekindle/coordinator
END
systemctl enable --now --no-block rekindle-boot rekindle-coordinator

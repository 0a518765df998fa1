#!/bin/sh
# This script is the user data (AWS, Azure) or the startup-script (Google Cloud) of the coordinator's machine. The image
# of the machine must have been made with deploy/install.
set -eu
cat >/etc/rekindle/boot.env <<'END'
ROLE=coordinator
# The cloud is aws, gcp or azure.
CLOUD=aws
# SECRET is the name of a parameter with aws, rekindle-coordinator with gcp, and
# https://VAULT.vault.azure.net/secrets/rekindle-coordinator with azure.
SECRET=/rekindle/coordinator
END
systemctl enable --now --no-block rekindle-boot rekindle-coordinator

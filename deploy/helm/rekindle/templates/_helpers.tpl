{{/* labels CONTEXT renders the labels that every object has. */}}
{{- define "rekindle.labels" -}}
app.kubernetes.io/name: rekindle
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "rekindle.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy | default "IfNotPresent" }}
{{- end }}

{{- define "rekindle.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* files WHO renders the environment variables that tell the programs where the four files are. */}}
{{- define "rekindle.files" -}}
- {name: REKINDLE_TLS_CERT, value: /etc/rekindle/{{ . }}/tls.crt}
- {name: REKINDLE_TLS_KEY, value: /etc/rekindle/{{ . }}/tls.key}
- {name: REKINDLE_TLS_CA, value: /etc/rekindle/{{ . }}/ca.crt}
- {name: REKINDLE_TOKEN_FILE, value: /etc/rekindle/{{ . }}/token}
{{- end }}

{{- define "rekindle.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "rekindle.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* tolerations CONTEXT POOLS renders the tolerations for machines of these pools, also those for GPUs. */}}
{{- define "rekindle.tolerations" -}}
{{- $all := .context.Values.node.tolerations | default list }}
{{- range .pools }}
{{- $all = concat $all (.tolerations | default list) }}
{{- if .gpus }}
{{- $all = append $all (dict "key" "nvidia.com/gpu" "operator" "Exists" "effect" "NoSchedule") }}
{{- end }}
{{- end }}
{{- uniq $all | toYaml }}
{{- end }}

{{/* slots POOL renders the number of trainers per machine. If a machine has GPUs, each trainer has one of its own. */}}
{{- define "rekindle.slots" -}}
{{- $gpus := .gpus | default 0 | int }}
{{- $slots := .slots | default $gpus | default 1 | int }}
{{- if and $gpus (ne $slots $gpus) }}
{{- fail (printf "pool %s has gpus: %d and slots: %d, but a trainer has a GPU of its own: leave slots out" .name $gpus $slots) }}
{{- end }}
{{- $slots }}
{{- end }}

{{/* resources POOL renders the resources of the pool, with its GPUs. */}}
{{- define "rekindle.resources" -}}
{{- $resources := deepCopy (.resources | default dict) }}
{{- with .gpus }}
{{- $_ := set $resources "limits" (merge (dict "nvidia.com/gpu" (int .)) ($resources.limits | default dict)) }}
{{- end }}
{{- with $resources }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* labels CONTEXT: of every object. */}}
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

{{/* files WHO: where the four files are, as the programs want to be told. */}}
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

{{/* tolerations CONTEXT POOLS: what machines of these pools are tainted with, and that they have GPUs. */}}
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

{{/* slots POOL: a trainer has a GPU of its own, where there are any. */}}
{{- define "rekindle.slots" -}}
{{- $gpus := .gpus | default 0 | int }}
{{- $slots := .slots | default $gpus | default 1 | int }}
{{- if and $gpus (ne $slots $gpus) }}
{{- fail (printf "pool %s has gpus: %d and slots: %d, but a trainer has a GPU of its own: leave slots out" .name $gpus $slots) }}
{{- end }}
{{- $slots }}
{{- end }}

{{/* resources POOL: the pool's, with its GPUs. */}}
{{- define "rekindle.resources" -}}
{{- $resources := deepCopy (.resources | default dict) }}
{{- with .gpus }}
{{- $_ := set $resources "limits" (merge (dict "nvidia.com/gpu" (int .)) ($resources.limits | default dict)) }}
{{- end }}
{{- with $resources }}
{{- toYaml . }}
{{- end }}
{{- end }}

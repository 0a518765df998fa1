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

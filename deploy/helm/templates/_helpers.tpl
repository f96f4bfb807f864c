{{- define "memory.selector" -}}
app.kubernetes.io/name: memory-server
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "memory.metadata" -}}
name: {{ printf "%s-%s" .root.Release.Name .part }}
labels:
  {{- include "memory.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "memory.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set MEMORY_… for each Service whose name begins so.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: tmp, emptyDir: {medium: Memory, sizeLimit: 256Mi}}
{{- end }}

{{- define "memory.container" -}}
name: {{ .part }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "memory.server" -}}
image: {{ .root.Values.image }}
envFrom:
  - secretRef: {name: {{ .root.Values.secretName }}}
env:
  - {name: MEMORY_ALLOWED_HOSTS, value: {{ printf "%s,%s-web" (join "," .root.Values.hosts) .root.Release.Name | quote }}}
  {{- range $name, $value := .root.Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- end }}

{{/* The name in the recommended labels. */}}
{{- define "koord-manager.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of every object. */}}
{{- define "koord-manager.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "koord-manager.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "koord-manager.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* What selects our pods; it can never change for an existing Deployment. */}}
{{- define "koord-manager.selectorLabels" -}}
app.kubernetes.io/name: {{ include "koord-manager.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "koord-manager.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "koord-manager.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: koord-manager
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "koord-manager.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "koord-manager.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "koord-manager.image" -}}
{{- $image := .Values.image }}
{{- if and $image.requireRegistry (not $image.registry) }}
{{- fail "\n\nimage.registry is empty and image.requireRegistry is set. Build the image, push it, and name where:\n  --set image.registry=registry.example.com/team\ndocs/install.md shows every step.\n" }}
{{- end }}
{{- $name := $image.repository }}
{{- if $image.registry }}
{{- $name = printf "%s/%s" (trimSuffix "/" $image.registry) $image.repository }}
{{- end }}
{{- if $image.digest }}
{{- printf "%s@%s" $name $image.digest }}
{{- else }}
{{- printf "%s:%s" $name (default .Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{- define "koord-manager.configNamespace" -}}
{{- default .Release.Namespace .Values.config.namespace }}
{{- end }}

{{- define "koord-manager.priorityClassName" -}}
{{- if .Values.priorityClassName }}
{{- .Values.priorityClassName }}
{{- else if eq .Release.Namespace "kube-system" }}
{{- "system-cluster-critical" }}
{{- end }}
{{- end }}

{{/* What helm asks for before it takes over an object: "true" if this release has it. Takes
the object and the root. */}}
{{- define "koord-manager.isOurs" -}}
{{- $notes := dig "metadata" "annotations" dict (index . 0) | default dict }}
{{- $root := index . 1 }}
{{- if and (eq (get $notes "meta.helm.sh/release-name" | toString) $root.Release.Name) (eq (get $notes "meta.helm.sh/release-namespace" | toString) $root.Release.Namespace) }}true{{ end }}
{{- end }}

{{/* Names of the CRDs that exist and are somebody else's, one a line. */}}
{{- define "koord-manager.foreignCRDs" -}}
{{- $root := . }}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
{{- $name := ($root.Files.Get $path | fromYaml).metadata.name }}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name }}
{{- if and $live (not (include "koord-manager.isOurs" (list $live $root))) }}
{{- printf "%s\n" $name }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of every container. */}}
{{- define "koord-manager.container" -}}
image: {{ include "koord-manager.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.extraEnv }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Settings of every pod. */}}
{{- define "koord-manager.pod" -}}
serviceAccountName: {{ include "koord-manager.serviceAccountName" . }}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

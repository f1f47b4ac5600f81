{{- define "nowserving.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels by which Services and Deployments find pods. */}}
{{- define "nowserving.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "nowserving.labels" -}}
{{ include "nowserving.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "nowserving.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* The secret that holds the values of `secrets`. */}}
{{- define "nowserving.secretName" -}}
{{ include "nowserving.fullname" . }}-settings
{{- end -}}

{{- define "nowserving.postgresName" -}}
{{ include "nowserving.fullname" . }}-postgres
{{- end -}}

{{- define "nowserving.podSecurity" -}}
runAsNonRoot: true
# The user node of the image.
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "nowserving.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* A mapping of names to texts. As a text, Helm writes a large number like 2e+07; JSON has all its digits. */}}
{{- define "nowserving.texts" -}}
{{- range $name, $value := . }}
{{ $name }}: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}
{{- end }}
{{- end -}}

{{/* A reference to the secret of a setting: the dict has root, name and setting. */}}
{{- define "nowserving.secretRef" -}}
{{- if .setting.existingSecret -}}
name: {{ .setting.existingSecret }}
key: {{ .setting.key | default .name }}
{{- else -}}
name: {{ include "nowserving.secretName" .root }}
key: {{ .name }}
{{- end -}}
{{- end -}}

{{/* How a container trusts the authorities of `authorities`. Empty without them. */}}
{{- define "nowserving.authoritiesVariable" -}}
{{- if .Values.authorities.existingSecret -}}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/nowserving-authorities/ca.crt
{{- end -}}
{{- end -}}

{{- define "nowserving.authoritiesMount" -}}
{{- if .Values.authorities.existingSecret -}}
- { name: authorities, mountPath: /etc/nowserving-authorities, readOnly: true }
{{- end -}}
{{- end -}}

{{- define "nowserving.authoritiesVolume" -}}
{{- with .Values.authorities }}
{{- if .existingSecret -}}
- name: authorities
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: ca.crt }] }
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nowserving.environment" -}}
- name: NODE_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: MODELS_FILE
  value: /etc/nowserving/models.yaml
- name: DATA_DIR
  value: /app/.data
{{- if .Values.migration.enabled }}
# The job migrates before the pods are replaced.
- name: MIGRATE
  value: 'off'
{{- end }}
- name: SHUTDOWN_DELAY
  value: {{ int64 .Values.shutdown.delaySeconds }}s
- name: SHUTDOWN_GRACE
  value: {{ int64 .Values.shutdown.graceSeconds }}s
{{- if eq .Values.files.kind "s3" }}
{{- if not .Values.secrets.AWS_SECRET_ACCESS_KEY }}
{{- fail "Set secrets.AWS_ACCESS_KEY_ID and secrets.AWS_SECRET_ACCESS_KEY for the bucket." }}
{{- end }}
- name: FILES
  value: {{ required "Set files.s3.url to s3://bucket/prefix, or files.kind to volume." .Values.files.s3.url | quote }}
{{- with .Values.files.s3.endpoint }}
- name: S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  {{- include "nowserving.texts" (dict "value" $value) | indent 2 }}
{{- end }}
{{- if .Values.postgres.enabled }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ include "nowserving.postgresName" . }}-app, key: uri } }
{{- else if not .Values.secrets.DATABASE_URL }}
{{- fail "Set secrets.DATABASE_URL, or postgres.enabled for a cluster of CloudNativePG." }}
{{- end }}
{{- range $name, $setting := .Values.secrets }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      {{- include "nowserving.secretRef" (dict "root" $ "name" $name "setting" $setting) | nindent 6 }}
{{- end }}
{{- end -}}

{{/* A Deployment of nodes with one role: the dict has root, role and nodes (its values). */}}
{{- define "nowserving.deployment" -}}
{{- $root := .root -}}
{{- with $root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "nowserving.fullname" . }}-{{ $.role }}
  labels:
    {{- include "nowserving.labels" . | nindent 4 }}
    app.kubernetes.io/component: {{ $.role }}
spec:
  {{- if not (and $.nodes.autoscaling $.nodes.autoscaling.enabled) }}
  replicas: {{ $.nodes.replicas }}
  {{- end }}
  # A new node is ready before an old one stops.
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  selector:
    matchLabels:
      {{- include "nowserving.selector" . | nindent 6 }}
      app.kubernetes.io/component: {{ $.role }}
  template:
    metadata:
      labels:
        {{- include "nowserving.labels" . | nindent 8 }}
        app.kubernetes.io/component: {{ $.role }}
      annotations:
        # Settings are read once, so a changed secret of the chart replaces the pods.
        checksum/secrets: {{ .Values.secrets | toJson | sha256sum }}
        {{- include "nowserving.texts" $.nodes.podAnnotations | indent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        {{- include "nowserving.podSecurity" . | nindent 8 }}
      {{- with .Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      # SHUTDOWN_DELAY covers the time until the endpoints have changed, so there is no preStop hook.
      terminationGracePeriodSeconds: {{ add .Values.shutdown.delaySeconds .Values.shutdown.graceSeconds 10 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "nowserving.selector" . | nindent 14 }}
              app.kubernetes.io/component: {{ $.role }}
      containers:
        - name: nowserving
          image: {{ include "nowserving.image" . | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          securityContext:
            {{- include "nowserving.containerSecurity" . | nindent 12 }}
          env:
            - name: ROLE
              value: {{ $.role }}
            {{- include "nowserving.environment" . | nindent 12 }}
            {{- include "nowserving.authoritiesVariable" . | nindent 12 }}
          ports:
            - { name: http, containerPort: 3000 }
          # The port opens after the migrations, which may take minutes.
          startupProbe:
            httpGet: { path: /health/live, port: http }
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 300
          livenessProbe:
            httpGet: { path: /health/live, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          # It answers within the 2 s that it gives the database.
          readinessProbe:
            httpGet: { path: /health/ready, port: http }
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 2
          resources:
            {{- toYaml $.nodes.resources | nindent 12 }}
          volumeMounts:
            - { name: models, mountPath: /etc/nowserving, readOnly: true }
            - { name: data, mountPath: /app/.data }
            {{- include "nowserving.authoritiesMount" . | nindent 12 }}
            {{- if eq .Values.files.kind "volume" }}
            - { name: files, mountPath: /app/.data/files }
            {{- end }}
      volumes:
        - name: models
          configMap:
            name: {{ .Values.existingModelsConfigMap | default (printf "%s-models" (include "nowserving.fullname" .)) }}
        {{- include "nowserving.authoritiesVolume" . | nindent 8 }}
        {{- if eq .Values.files.kind "volume" }}
        - name: data
          emptyDir: {}
        - name: files
          persistentVolumeClaim:
            claimName: {{ .Values.files.volume.existingClaim | default (printf "%s-files" (include "nowserving.fullname" .)) }}
        {{- else }}
        - name: data
          emptyDir: { sizeLimit: {{ .Values.files.s3.temporarySize }} }
        {{- end }}
      {{- with $.nodes.nodeSelector }}
      nodeSelector:
        {{- include "nowserving.texts" . | indent 8 }}
      {{- end }}
      {{- with $.nodes.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $.nodes.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}
{{- end -}}

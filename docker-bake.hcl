# Both images for both platforms: docker buildx bake --push
# For this machine only, with names such as nowserving:dev: docker buildx bake --load --set '*.platform='

variable "IMAGE" {
  default = "nowserving"
}

variable "TAG" {
  default = "dev"
}

group "default" {
  targets = ["service", "all-in-one"]
}

target "common" {
  context   = "."
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
  labels = {
    "org.opencontainers.image.title"    = "Now Serving"
    "org.opencontainers.image.licenses" = "Apache-2.0"
    "org.opencontainers.image.version"  = TAG
  }
}

target "service" {
  inherits = ["common"]
  target   = "service"
  tags     = ["${IMAGE}:${TAG}"]
}

target "all-in-one" {
  inherits = ["common"]
  target   = "all-in-one"
  tags     = ["${IMAGE}:${TAG}-all-in-one"]
}

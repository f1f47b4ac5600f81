/** Names that may become labels: the first `max`, and `other` for the rest. */
export class BoundedNames {
  private readonly names = new Set<string>();

  constructor(private readonly max: number) {}

  of(name: string): string {
    if (this.names.has(name)) return name;
    if (this.names.size >= this.max) return 'other';
    this.names.add(name);
    return name;
  }
}

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

  /** Drops all names except these, and returns those that were dropped. */
  retain(names: readonly string[]): string[] {
    const retained = new Set(names);
    const dropped = [...this.names].filter((name) => !retained.has(name));
    for (const name of dropped) this.names.delete(name);
    return dropped;
  }
}

export default function View() {
  return (
    <main className="page">
      <h1>nodes</h1>
    </main>
  );
}

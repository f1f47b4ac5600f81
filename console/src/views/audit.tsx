export default function View() {
  return (
    <main className="page">
      <h1>audit</h1>
    </main>
  );
}

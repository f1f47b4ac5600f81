export default function View() {
  return (
    <main className="page">
      <h1>requests</h1>
    </main>
  );
}

// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/comm/timer.hpp"
#include "base/core/text.hpp"
#include "base/core/wall_clock.hpp"
#include "solvers/krylov/elliptic_multigrid.hpp"
#include "solvers/krylov/null_space.hpp"
#include "solvers/krylov/petsc_check.hpp"
#include "solvers/krylov/petsc_gcr.hpp"
#include "solvers/krylov/petsc_matrix.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "solvers/krylov/petsc_values.hpp"

namespace karst {

namespace {

/// Basis vectors of GMRES, when a user asks for it, before a restart.
constexpr PetscInt gmres_restart = 60;
constexpr int most_rounds = 3;  ///< of a solve whose residual is not what its method believes

Precondition graph_multigrid(EllipticOperator& op) {
  const Timer timer("graph multigrid set-up");
  return [multigrid = std::make_shared<EllipticMultigrid>(op)](std::span<const double> r, std::span<double> z) {
    (*multigrid)(r, z);
  };
}

std::string history(const std::vector<double>& r) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < r.size(); ++i)
    if (i < 4 || i + 4 >= r.size())
      parts.push_back(fmt::format("{}: {:.2e}", i, r[i]));
    else if (i == 4)
      parts.emplace_back("...");
  return join(parts);
}

std::string method_of(KSP ksp) {
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type), "KSPGetType");
  return type;
}

const char* name_of(KSPConvergedReason reason) {
  return (*static_cast<const char* const* const*>(petsc_symbol("KSPConvergedReasons")))[reason];
}

std::string advice(KSPConvergedReason reason, const std::string& prefix) {
  switch (reason) {
    case KSP_DIVERGED_ITS:
      return fmt::format(
          "more iterations (-{0}ksp_max_it), a larger tolerance, or another preconditioner (-{0}pc_type gamg)", prefix);
    case KSP_DIVERGED_NANORINF:
      return "checking the right-hand side and the conditions for values that are not finite";
    case KSP_DIVERGED_INDEFINITE_PC:
    case KSP_DIVERGED_INDEFINITE_MAT:
      return fmt::format("a method for matrices that are not symmetric and positive (-{0}ksp_type fgmres)", prefix);
    default:
      return fmt::format("another method (-{0}ksp_type fgmres) or preconditioner (-{0}pc_type gamg, -{0}pc_type hypre)",
                         prefix);
  }
}

}  // namespace

struct KrylovSolver::Hidden {
  EllipticOperator& op;
  KrylovOptions options;
  Precondition precondition;
  NullSpace null_space;
  int version;  // of the operator
  std::optional<PetscMatrix> matrix;
  Mat shell = nullptr;
  KSP ksp = nullptr;
  bool truncated_gcr = false;                // the method is ours
  std::optional<TruncatedGcr> gcr;           // since its first solve
  PC inner = nullptr;                        // PETSc's preconditioner on the assembled matrix; none when one was given
  Vec inner_r = nullptr, inner_z = nullptr;  // without memory of their own, for arrays that it works on
  double setup_seconds = 0.0;
  std::string preconditioner_name;
  std::exception_ptr failure;  // thrown inside a callback of PETSc

  Hidden(EllipticOperator& o, KrylovOptions k, Precondition p)
      : op(o),
        options(std::move(k)),
        precondition(std::move(p)),
        null_space(o, options.definite),
        version(o.version()) {
    preconditioner_name = precondition ? "given" : "graph multigrid";
  }
  ~Hidden() {
    KSPDestroy(&ksp);
    PCDestroy(&inner);
    VecDestroy(&inner_r);
    VecDestroy(&inner_z);
    MatDestroy(&shell);
  }

  template <class F>
  PetscErrorCode guarded(F&& f) {
    try {
      f();
      return 0;
    } catch (...) {
      if (!failure) failure = std::current_exception();  // not what PETSc makes of an earlier one
      return PETSC_ERR_LIB;
    }
  }
  /// PETSc tells of its errors on the terminal, but not of what was thrown inside a callback: that is told elsewhere.
  static PetscErrorCode tell_error(MPI_Comm comm, int line, const char* function, const char* file, PetscErrorCode code,
                                   PetscErrorType type, const char* text, void* context) {
    if (static_cast<Hidden*>(context)->failure) return code;
    return PetscTraceBackErrorHandler(comm, line, function, file, code, type, text, nullptr);
  }
  /// y = (A + T) x
  void multiply(std::span<const double> x, std::span<double> y) const {
    op.apply(x, y);
    if (options.added) options.added(x, y);
  }
  /// z = M r, without the null space.
  void apply_preconditioner(std::span<const double> r, std::span<double> z) const {
    if (inner != nullptr)
      apply_inner(r, z);
    else
      precondition(r, z);
    null_space.remove(z);
  }
  static PetscErrorCode multiply_for_petsc(Mat a, Vec x, Vec y) {
    void* context = nullptr;
    MatShellGetContext(a, &context);
    auto& self = *static_cast<Hidden*>(context);
    return self.guarded([&] { self.multiply(ReadValues(x).span(), WriteValues(y).span()); });
  }
  static PetscErrorCode precondition_for_petsc(PC pc, Vec r, Vec z) {
    void* context = nullptr;
    PCShellGetContext(pc, &context);
    auto& self = *static_cast<Hidden*>(context);
    return self.guarded([&] { self.apply_preconditioner(ReadValues(r).span(), WriteValues(z).span()); });
  }
  /// What keep_residual() works on during a solve.
  struct Residuals {
    Hidden& self;
    std::vector<double>& kept;
    double right_side;  // ||b||
  };
  static PetscErrorCode keep_residual(KSP, PetscInt iteration, PetscReal norm, void* context) {
    auto& r = *static_cast<Residuals*>(context);
    return r.self.guarded([&] {
      r.kept.push_back(norm);
      if (r.self.options.watch) r.self.options.watch(static_cast<int>(iteration), norm / r.right_side);
    });
  }

  void subtract_added(std::span<const double> x, std::vector<double>& b) const;
  void make_shell();
  void make_ksp();
  void make_inner();
  void apply_inner(std::span<const double> r, std::span<double> z) const;
  void follow_operator();
  KrylovEnd solve_through_petsc(Vec b, Vec x);
  KrylovEnd solve_with_gcr(Vec b, Vec x);
  KSPConvergedReason run(Vec b, Vec x, SolveReport& report);
  std::string preconditioner_in_use() const;
  /// A right-hand side and a solution, and the length that residuals are relative to.
  struct System {
    std::span<const double> right;
    std::span<double> x;
    double size;
  };
  KSPConvergedReason run_to_true_residual(Vec b, Vec x, const System& system, SolveReport& report);
  bool is_true(double residual, double believed) const;
  void judge(KSPConvergedReason reason, const SolveReport& report) const;
  bool user_names_preconditioner() const;
  Vec vector_over(std::span<double> values) const;
};

bool KrylovSolver::Hidden::user_names_preconditioner() const {
  PetscBool given = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, options.prefix.c_str(), "-pc_type", &given), "PetscOptionsHasName");
  return given == PETSC_TRUE;
}

void KrylovSolver::Hidden::make_shell() {
  const auto n = static_cast<PetscInt>(op.numbering().n_own());
  petsc_check(MatCreateShell(op.comm().handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &shell),
              "MatCreateShell");
  petsc_check(MatShellSetOperation(shell, MATOP_MULT, reinterpret_cast<void (*)()>(multiply_for_petsc)),
              "MatShellSetOperation");
}

void KrylovSolver::Hidden::make_ksp() {
  petsc_check(KSPCreate(op.comm().handle(), &ksp), "KSPCreate");
  petsc_check(KSPSetOptionsPrefix(ksp, options.prefix.c_str()), "KSPSetOptionsPrefix");
  register_truncated_gcr();
  const bool carried = bool{options.added}, symmetric = op.symmetric() && !carried;
  petsc_check(KSPSetType(ksp, symmetric ? KSPCG : carried ? KSPFGMRES : truncated_gcr_type), "KSPSetType");
  if (!symmetric) {
    petsc_check(KSPSetPCSide(ksp, PC_RIGHT), "KSPSetPCSide");
    petsc_check(KSPGMRESSetRestart(ksp, carried ? options.restart : gmres_restart), "KSPGMRESSetRestart");
  }
  petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED), "KSPSetNormType");
  petsc_check(KSPSetTolerances(ksp, options.tolerance, 1e-300, 1e8, options.max_iterations), "KSPSetTolerances");
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc), "KSPGetPC");
  petsc_check(KSPSetOperators(ksp, shell, shell), "KSPSetOperators");
  petsc_check(PCSetOptionsPrefix(pc, (options.prefix + "outer_").c_str()), "PCSetOptionsPrefix");
  petsc_check(PCSetType(pc, PCSHELL), "PCSetType");
  petsc_check(PCShellSetContext(pc, this), "PCShellSetContext");
  petsc_check(PCShellSetApply(pc, precondition_for_petsc), "PCShellSetApply");
  if (user_names_preconditioner())
    make_inner();
  else if (!precondition)
    precondition = graph_multigrid(op);
  petsc_check(KSPSetFromOptions(ksp), "KSPSetFromOptions");
  truncated_gcr = method_of(ksp) == truncated_gcr_type;
  if (truncated_gcr)
    refuse_monitors_of_vectors(options.prefix);
  else
    petsc_check(KSPSetUp(ksp), "KSPSetUp");
}

void KrylovSolver::Hidden::make_inner() {
  matrix.emplace(op);
  auto* mat = static_cast<Mat>(matrix->mat());
  petsc_check(PCCreate(op.comm().handle(), &inner), "PCCreate");
  petsc_check(PCSetOptionsPrefix(inner, options.prefix.c_str()), "PCSetOptionsPrefix");
  petsc_check(PCSetOperators(inner, mat, mat), "PCSetOperators");
  petsc_check(PCSetType(inner, PCGAMG), "PCSetType");
  petsc_check(PCSetFromOptions(inner), "PCSetFromOptions");
  petsc_check(PCSetUp(inner), "PCSetUp");
  const auto n = static_cast<PetscInt>(op.numbering().n_own());
  for (Vec* v : {&inner_r, &inner_z})
    if (*v == nullptr)
      petsc_check(VecCreateMPIWithArray(op.comm().handle(), 1, n, PETSC_DETERMINE, nullptr, v),
                  "VecCreateMPIWithArray");
}

/// z = M r with PETSc's preconditioner.
void KrylovSolver::Hidden::apply_inner(std::span<const double> r, std::span<double> z) const {
  petsc_check(VecPlaceArray(inner_r, r.data()), "VecPlaceArray");
  petsc_check(VecPlaceArray(inner_z, z.data()), "VecPlaceArray");
  const PetscErrorCode code = PCApply(inner, inner_r, inner_z);
  petsc_check(VecResetArray(inner_r), "VecResetArray");
  petsc_check(VecResetArray(inner_z), "VecResetArray");
  petsc_check(code, "PCApply");
}

void KrylovSolver::Hidden::follow_operator() {
  if (version == op.version()) return;
  const Timer timer("solver follows coefficients");
  null_space = NullSpace(op, options.definite);
  if (inner != nullptr) {
    petsc_check(PCDestroy(&inner), "PCDestroy");  // PCSetUp() and PCReset() keep parts of the old coefficients
    make_inner();
  }
  version = op.version();
}

Vec KrylovSolver::Hidden::vector_over(std::span<double> values) const {
  Vec v = nullptr;
  petsc_check(VecCreateMPIWithArray(op.comm().handle(), 1, static_cast<PetscInt>(values.size()), PETSC_DETERMINE,
                                    values.data(), &v),
              "VecCreateMPIWithArray");
  return v;
}

KrylovEnd KrylovSolver::Hidden::solve_through_petsc(Vec b, Vec x) {
  KrylovEnd end;
  petsc_check(KSPSolve(ksp, b, x), "KSPSolve");
  petsc_check(KSPGetConvergedReason(ksp, &end.reason), "KSPGetConvergedReason");
  petsc_check(KSPGetIterationNumber(ksp, &end.iterations), "KSPGetIterationNumber");
  return end;
}

KrylovEnd KrylovSolver::Hidden::solve_with_gcr(Vec b, Vec x) {
  if (!gcr) gcr.emplace(op.comm(), op.numbering().n_own());
  const GcrMaps maps{[this](std::span<const double> from, std::span<double> to) { multiply(from, to); },
                     [this](std::span<const double> r, std::span<double> z) { apply_preconditioner(r, z); }};
  return solve_gcr(ksp, maps, *gcr, b, x);
}

/// Solves A x = b and puts into the report how; why the method stopped. Where the short memory of truncated GCR stalls,
/// flexible GMRES goes on from there.
KSPConvergedReason KrylovSolver::Hidden::run(Vec b, Vec x, SolveReport& report) {
  KrylovEnd end = truncated_gcr ? solve_with_gcr(b, x) : solve_through_petsc(b, x);
  report.method = truncated_gcr ? truncated_gcr_type : method_of(ksp);
  if (truncated_gcr && end.reason == KSP_DIVERGED_BREAKDOWN) {
    gcr.reset();
    const PetscInt stalled = end.iterations;
    petsc_check(KSPSetType(ksp, KSPFGMRES), "KSPSetType");
    petsc_check(KSPGMRESSetRestart(ksp, gmres_restart), "KSPGMRESSetRestart");
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE), "KSPSetInitialGuessNonzero");
    end = solve_through_petsc(b, x);
    end.iterations += stalled;
    report.method += fmt::format(" and {}", method_of(ksp));
    petsc_check(KSPSetType(ksp, truncated_gcr_type), "KSPSetType");  // for the next solve
  }
  report.iterations = static_cast<int>(end.iterations);
  report.preconditioner = preconditioner_in_use();
  return end.reason;
}

/// Over many iterations the residual that a method carries along departs from that of the solution: then it goes on
/// from there with the true one.
KSPConvergedReason KrylovSolver::Hidden::run_to_true_residual(Vec b, Vec x, const System& system, SolveReport& report) {
  const std::vector<double> given(system.right.begin(), system.right.end());
  std::vector<double> right;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  int iterations = 0;
  for (int round = 0; round < most_rounds; ++round) {
    guarded([&] { reason = run(b, x, report); });
    iterations += report.iterations;
    report.iterations = iterations;
    if (failure) break;
    right = given;
    subtract_added(system.x, right);
    report.true_residual = op.set_orphans(right, system.x) / system.size;
    if (reason <= 0 || is_true(report.true_residual, report.residuals.back() / system.size)) break;
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE), "KSPSetInitialGuessNonzero");
  }
  return reason;
}

std::string KrylovSolver::Hidden::preconditioner_in_use() const {
  if (inner == nullptr) return preconditioner_name;
  PCType type = nullptr;
  PCGetType(inner, &type);
  return type;
}

/// b -= T x
void KrylovSolver::Hidden::subtract_added(std::span<const double> x, std::vector<double>& b) const {
  if (!options.added) return;
  std::vector<double> more(b.size(), 0.0);
  options.added(x, more);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] -= more[i];
}

/// The residual of a solution is about that which the method believes in, or was asked for.
bool KrylovSolver::Hidden::is_true(double residual, double believed) const {
  PetscReal asked = 0.0;
  KSPGetTolerances(ksp, &asked, nullptr, nullptr, nullptr);
  return residual <= largest_residual_ratio * std::max(asked, believed);
}

/// Throws Error unless the method converged, to a solution that has the residual it believes in.
void KrylovSolver::Hidden::judge(KSPConvergedReason reason, const SolveReport& report) const {
  require(reason > 0,
          "solve {} did not converge: {} after {} iterations of {} with {}; relative residuals {}; required: {:.1e}. "
          "Try {}",
          report.name, name_of(reason), report.iterations, report.method, report.preconditioner,
          history(report.residuals), options.tolerance, advice(reason, options.prefix));
  require(is_true(report.true_residual, report.residuals.back()),
          "solve {}: {} with {} reports the relative residual {:.2e} after {} iterations, but that of the solution is "
          "{:.2e}; the method may need a preconditioner that is the same linear map at every step, which a cycle in "
          "single precision is not. Try {}",
          report.name, report.method, report.preconditioner, report.residuals.back(), report.iterations,
          report.true_residual, advice(KSP_DIVERGED_BREAKDOWN, options.prefix));
}

KrylovSolver::KrylovSolver(EllipticOperator& op, const KrylovOptions& options, Precondition precondition) {
  begin_petsc();
  const Timer timer("solver set-up");
  const WallClock clock;
  hidden_ = std::make_unique<Hidden>(op, options, std::move(precondition));
  hidden_->make_shell();
  hidden_->make_ksp();
  hidden_->setup_seconds = clock.seconds();
}

KrylovSolver::KrylovSolver(KrylovSolver&&) noexcept = default;
KrylovSolver& KrylovSolver::operator=(KrylovSolver&&) noexcept = default;
KrylovSolver::~KrylovSolver() = default;

SolveReport KrylovSolver::solve(std::span<const double> b, std::span<double> x) {
  Hidden& h = *hidden_;
  const Timer timer("Krylov solve");
  const WallClock clock;
  h.follow_operator();
  SolveReport report;
  report.name = h.options.name;
  report.singular_pores = h.null_space.n_pores();
  report.setup_seconds = h.setup_seconds;
  std::vector<double> right(b.begin(), b.end());
  double square = 0.0, start_square = 0.0;
  for (const double v : right) square += v * v;
  for (const double v : x) start_square += v * v;
  std::array<double, 2> squares{square, start_square};
  h.op.comm().sum(std::span(squares));
  require(std::isfinite(squares[0]) && std::isfinite(squares[1]),
          "solve {}: the {} holds values that are not finite; check sources, conditions and coefficients", report.name,
          std::isfinite(squares[0]) ? "initial guess" : "right-hand side");
  // PETSc is not told of the null space: it would take the left one for the same, which joined orphans make different
  // (null_space.hpp). The preconditioner takes the mean out instead.
  report.imbalance = h.null_space.make_compatible(right, report.name, h.options.allowed_imbalance);
  if (squares[0] == 0.0) {
    std::ranges::fill(x, 0.0);
    report.residuals = {0.0};
    return report;
  }

  Vec vb = h.vector_over(right), vx = h.vector_over(x);
  Hidden::Residuals residuals{h, report.residuals, std::sqrt(squares[0])};
  petsc_check(KSPMonitorSet(h.ksp, Hidden::keep_residual, &residuals, nullptr), "KSPMonitorSet");
  petsc_check(KSPSetInitialGuessNonzero(h.ksp, squares[1] > 0.0 ? PETSC_TRUE : PETSC_FALSE),
              "KSPSetInitialGuessNonzero");
  PetscPushErrorHandler(Hidden::tell_error, &h);
  const KSPConvergedReason reason = h.run_to_true_residual(vb, vx, {right, x, std::sqrt(squares[0])}, report);
  PetscPopErrorHandler();
  KSPMonitorCancel(h.ksp);
  VecDestroy(&vb);
  VecDestroy(&vx);
  if (h.failure) std::rethrow_exception(std::exchange(h.failure, nullptr));
  h.null_space.remove(x);

  for (double& r : report.residuals) r /= std::sqrt(squares[0]);
  report.seconds = clock.seconds();
  h.judge(reason, report);
  return report;
}

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
// The accurate operator of elliptic_problem.hpp on all levels, as one stencil store with two readers: apply(), free of
// matrices and threaded over boxes, and for_each_row(), which a matrix is assembled from.
//
// Most rows are the plain seven points and have no coefficients: apply() copies a box with its halo into a scratch
// array of its thread and runs the kernel there, so memory sees one read of x and one write of y. All other rows
// (row_maker.hpp, coarse_fine.hpp) are wide rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/geometry.hpp"
#include "fields/composite.hpp"
#include "fields/remote_values.hpp"
#include "fields/wall_field.hpp"
#include "solvers/elliptic/boundary_terms.hpp"
#include "solvers/elliptic/elliptic_problem.hpp"

namespace karst {

struct FaceStencils;

/// In the row of an own unknown, a volume [h0³] that multiplies another one.
struct VolumeOfOther {
  std::int32_t row;
  GlobalNumber unknown;
  double volume;
};

/// Whether an operator keeps the stencils of single faces, for EllipticFluxes: about 70 % more memory.
enum class Faces { forget, keep };

class EllipticOperator {
 public:
  /// Builds all stencils. Throws Error when a, β or a rate is out of range. Collective.
  EllipticOperator(const std::shared_ptr<const Composite>& grid, const EllipticProblem& problem,
                   Faces faces = Faces::forget);
  /// The same with a given form of the wall; WallForm::lines needs Dirichlet walls everywhere.
  EllipticOperator(std::shared_ptr<const Composite> grid, const EllipticProblem& problem, WallForm form,
                   Faces faces = Faces::forget);
  /// On a composite of its own; the geometry must outlive it.
  EllipticOperator(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem,
                   Faces faces = Faces::forget);
  EllipticOperator(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem, WallForm form,
                   Faces faces = Faces::forget);
  ~EllipticOperator();

  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  const CompositeNumbering& numbering() const { return numbering_; }
  const EllipticProblem& problem() const { return problem_; }
  const Comm& comm() const { return comm_; }
  const Geometry& geometry() const { return *geometry_; }
  WallForm form() const { return form_; }
  bool symmetric() const { return symmetric_; }
  const RowCounts& counts() const { return counts_; }         ///< over all ranks
  std::int64_t bytes() const;                                 ///< stencils, numbers and buffers of this rank
  const FaceStencils* faces() const { return faces_.get(); }  ///< nullptr: not kept; also of lines on several levels

  /// y = A x over the own unknowns, for C vectors side by side (component c of unknown i at C i + c; instantiated for 1
  /// to 4): each has the bits it has alone. Allocates nothing after the first time. Collective.
  template <int C = 1>
  void apply(std::span<const double> x, std::span<double> y);

  /// y = M x, where A = K + a M: what the zeroth-order term multiplies. Volumes, those of joined orphans in the rows of
  /// their hosts. Allocates nothing. Collective.
  void apply_volumes(std::span<const double> x, std::span<double> y);

  /// What M has beside its diagonal: volumes of joined orphans in the rows of their hosts. Not collective.
  std::vector<VolumeOfOther> volumes_of_others() const;

  /// Solves the rows of the orphans for their own values. Their diagonals can be tiny, so a small residual says little
  /// about them; afterwards they are as good as the values they hang on. Returns ||b - A x|| over all ranks, before.
  /// Collective.
  double set_orphans(std::span<const double> b, std::span<double> x);

  /// One damped Jacobi step in the wide rows alone (wide_rows.hpp); rows that are no balances (joined and pinned
  /// orphans) are solved for their own values. What a preconditioner of two-point fluxes does not know of is mended by
  /// it. C vectors as in apply(). Allocates nothing after the first time. Collective.
  template <int C = 1>
  void relax_wide_rows(std::span<const double> b, std::span<double> x);

  /// Own unknowns of orphans that leave their balance to a host: rows w x_o - w Σ c x_n.
  std::vector<std::int32_t> joined_orphans() const;

  /// Makes a the zeroth-order term; no stencil is built again. Throws Error when it is negative. Collective.
  void set_shift(double a);
  /// Gives every piece of wall a new value and, where its condition is Robin, a new rate; kinds stay. First components
  /// of fields on composite(), in the units of EllipticProblem. right_side() takes these values from now on. Allocates
  /// nothing after the first time. Throws Error when the wall has no condition, the fields are on another grid or a
  /// rate is negative. Collective.
  void set_wall(const WallField& rates, const WallField& values);
  /// Grows with each change: whoever keeps something made of coefficients knows when it is out of date.
  int version() const { return version_; }

  /// What boundary values mean for the rows: right_side() adds weight x value of each term to its row.
  const BoundaryTerms& boundary() const { return boundary_; }
  /// b = source x volume + what the boundary values add.
  /// @param source  f per own unknown; empty: 0
  /// @param values  where the boundary values come from: a problem with the same kinds and rates
  /// Not collective.
  void right_side(std::span<const double> source, const EllipticProblem& values, std::span<double> b) const;
  /// The same with the operator's own problem and the values of set_wall().
  void right_side(std::span<const double> source, std::span<double> b) const { right_side(source, problem_, b); }

  /// Rows in the order of the own unknowns; columns are global numbers, each once, increasing. Not collective.
  using RowReader =
      std::function<void(std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights)>;
  void for_each_row(const RowReader& read) const;

  /// Where the unknowns stand, in units of h0. Not collective.
  std::vector<Vec3> positions() const;
  /// Where a source is best evaluated (fluxes: at the centroids), and the volumes in h0³ that multiply it. Not
  /// collective.
  std::vector<Vec3> source_points() const;
  std::vector<double> volumes() const;

 private:
  /// A ghost behind an end of the domain: x_slot = factor x_vof.
  struct DomainGhost {
    std::uint16_t slot, vof;
    double factor;
  };
  /// halo[to + t] = x[from + t] for count values of own unknowns; a single halo value of any kind.
  struct Stretch {
    std::int32_t from;
    std::uint16_t to, count;
  };
  struct Single {
    std::int32_t from;
    std::uint16_t to;
  };
  struct LevelPart {
    std::size_t first_window = 0;  // of the wide rows: one per own box
    std::vector<Stretch> stretches;
    std::vector<Single> singles;
    std::vector<std::int64_t> stretch_begin{0}, single_begin{0};  // n_local + 1
    std::vector<std::int32_t> halo;        // per halo VoF of the own boxes: own unknown, n_own + remote place, or -1
    std::vector<std::int64_t> halo_begin;  // n_local + 1
    std::vector<DomainGhost> ghosts;
    std::vector<std::int64_t> ghost_begin;  // n_local + 1
  };
  struct BoxWork {
    int level, local;
  };
  struct RateAndValue {
    double rate, value;
  };
  struct AskedWall {
    int level;
    std::int64_t row;
  };
  struct Build;

  void build(Faces faces);
  void choose_boxes();
  void make_wide_rows(Build& build, int level);
  void add_plain_boundaries(const Build& build, int level);
  void number_columns(Build& build);
  template <int C>
  void apply_box(const BoxWork& work, std::span<const double> x, std::span<const double> far, std::span<double> y);
  template <int C>
  void load(const BoxWork& work, const BoxGraph& graph, std::span<const double> x, std::span<const double> far,
            double* scratch) const;
  template <int C>
  std::span<const double> begin_remote(std::span<const double> x);
  double level_width(int level) const;
  void split_halos();
  std::size_t window(int level, int local) const { return parts_[level].first_window + local; }
  template <class F>
  void over_windows(F&& f) const;
  double diagonal(std::int64_t wide_row) const;
  void use_coefficients();
  void list_asked_walls();
  GlobalNumber global_number(std::int32_t column) const;  ///< of an own unknown, or n_own + a place among remote_
  /// @param offset  of an irregular VoF, from the centre of its cell, in h
  std::vector<Vec3> points(const std::function<Vec3(const VofMoments&, const VofCenter&)>& offset) const;

  Comm comm_;
  const Geometry* geometry_;
  EllipticProblem problem_;
  WallForm form_;
  bool symmetric_ = false;
  std::shared_ptr<const Composite> composite_;
  const CompositeNumbering& numbering_;
  std::vector<LevelPart> parts_;
  RemoteValues<double> remote_;
  Array<double> many_remote_;  // the same for several vectors side by side; empty before
  WideRows wide_;
  std::vector<std::uint8_t> wide_orphan_;
  std::unique_ptr<const FaceStencils> faces_;
  BoundaryTerms boundary_;
  WallConditionAt first_wall_;          // before set_wall()
  RemoteValues<RateAndValue> foreign_;  // of set_wall(), at the pieces of other ranks
  std::vector<AskedWall> asked_walls_;  // by other ranks, as foreign_ sends them
  std::vector<double> wall_values_;     // of set_wall(), per wall term; empty before
  std::shared_ptr<WallField> wall_;     // of set_wall(): rates and values; nullptr before
  std::vector<double> coefficients_;
  std::vector<std::shared_ptr<const ForeignWalls>> foreign_walls_;  // what wall terms of other ranks point at
  int version_ = 0;
  std::vector<BoxWork> interior_, border_;
  std::vector<Array<double>> scratch_;  // per thread: x with halo, then y
  std::size_t scratch_size_ = 0;
  RowCounts counts_;
};

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
// The accurate operator of elliptic_problem.hpp on all levels, as one set of stencils with two uses: apply(),
// matrix-free and threaded over boxes, and for_each_row(), for the assembly of a matrix.
//
// Most rows are the plain seven points and have no coefficients: apply() copies a box with its halo into a scratch
// array of its thread and runs the kernel there, so x is read and y is written once in main memory. All other rows
// (row_maker.hpp, coarse_fine.hpp) are irregular rows ("wide rows").
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
#include "solvers/elliptic/operator_lists.hpp"

namespace karst {

struct FaceStencils;
struct SameBoxes;

/// A volume [h0³] in the row of an own unknown that multiplies another unknown.
struct VolumeOfOther {
  std::int32_t row;
  GlobalNumber unknown;
  double volume;
};

/// Whether an operator keeps the stencils of single faces, for EllipticFluxes: about 70 % more memory.
enum class Faces { forget, keep };

class EllipticOperator;

/// Whether the row of an own unknown is that of an operator before: together with all that is 16 cells around its box,
/// or nothing is said of what is around it.
enum class KnownRow : std::uint8_t { no, alone, with_all_around };

/// An operator of the same equation on the grid before, and where that grid was the same: rows are copied there.
struct OperatorBefore {
  const EllipticOperator* op = nullptr;  ///< nullptr: none
  const SameBoxes* same = nullptr;
  std::span<KnownRow> known;  ///< empty, or per own unknown, `no` at first: told which rows are those of before
};

class EllipticOperator {
 public:
  /// Builds all stencils. Throws Error if a, β or a rate is out of range. Collective.
  EllipticOperator(const std::shared_ptr<const Composite>& grid, const EllipticProblem& problem,
                   Faces faces = Faces::forget);
  /// The same with a given wall form; WallForm::lines requires Dirichlet conditions on the whole wall.
  /// @param before  of the same form, with faces where this one has them; the rows are those made of none, bit by bit
  EllipticOperator(std::shared_ptr<const Composite> grid, const EllipticProblem& problem, WallForm form,
                   Faces faces = Faces::forget, const OperatorBefore& before = {});
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

  /// y = A x over the own unknowns, for C interleaved vectors (component c of unknown i at C i + c; instantiated for 1
  /// to 4); each is bitwise the same as alone. Allocates memory only at the first call. Collective.
  template <int C = 1>
  void apply(std::span<const double> x, std::span<double> y);

  /// y = M x, where A = K + a M: M contains the volumes, those of isolated fragments in the rows of their hosts.
  /// Allocates nothing. Collective.
  void apply_volumes(std::span<const double> x, std::span<double> y);

  /// Off-diagonal entries of M: volumes of isolated fragments in the rows of their hosts. Not collective.
  std::vector<VolumeOfOther> volumes_of_others() const;

  /// Solves the rows of isolated fragments for their own values. Their diagonals can be tiny, so a small residual does
  /// not imply a small error; afterwards they are as accurate as the values on which they depend. Returns ||b - A x||
  /// over all ranks before the call. Collective.
  double set_orphans(std::span<const double> b, std::span<double> x);

  /// One damped Jacobi step in the irregular rows only (wide_rows.hpp); rows that are not balances (fragments with a
  /// host or with a fixed value) are solved for their own values. It reduces the errors that a preconditioner with
  /// two-point fluxes cannot reduce. C vectors as in apply(). Allocates memory only at the first call. Collective.
  template <int C = 1>
  void relax_wide_rows(std::span<const double> b, std::span<double> x);

  /// Own unknowns of isolated fragments whose balance is in the row of a host; their rows are w x_o - w Σ c x_n.
  std::vector<std::int32_t> joined_orphans() const;
  double diagonal_of_joined(std::int32_t orphan) const;  ///< w of one of them

  /// Sets the zeroth-order term a; stencils are not rebuilt. Throws Error if it is negative. Collective.
  void set_shift(double a);
  /// Sets a new value for every piece of wall and, where its condition is Robin, a new rate; kinds do not change. First
  /// components of fields on composite(), in the units of EllipticProblem. right_side() uses these values afterwards.
  /// Allocates memory only at the first call. Throws Error if the wall has no condition, the fields are on another grid
  /// or a rate is negative. Collective.
  void set_wall(const WallField& rates, const WallField& values);
  /// Incremented by each change, so that data derived from coefficients can be checked for being out of date.
  int version() const { return version_; }

  /// Terms of boundary values in the rows: right_side() adds weight x value of each term to its row.
  const BoundaryTerms& boundary() const { return boundary_; }
  /// b = source x volume + contributions of the boundary values.
  /// @param source  f per own unknown; empty: 0
  /// @param values  problem with the boundary values, of the same kinds and rates. Not collective.
  void right_side(std::span<const double> source, const EllipticProblem& values, std::span<double> b) const;
  /// The same with the operator's own problem and the values of set_wall().
  void right_side(std::span<const double> source, std::span<double> b) const { right_side(source, problem_, b); }

  /// Rows in the order of the own unknowns; columns are global numbers, each once, increasing. Not collective.
  using RowReader =
      std::function<void(std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights)>;
  void for_each_row(const RowReader& read) const;
  /// These rows of an own box, increasing.
  void read_rows(int level, int box, std::span<const std::int32_t> rows, const RowReader& read) const;

  /// Positions of the unknowns, in units of h0. Not collective.
  std::vector<Vec3> positions() const;
  /// Positions at which a source should be evaluated (form `fluxes`: the centroids), and the volumes in h0³ that
  /// multiply it. Not collective.
  std::vector<Vec3> source_points() const;
  std::vector<double> volumes() const;

 private:
  struct BoxWork {
    int level, local;
  };
  struct RateAndValue {
    double rate, value;
  };
  struct Build;
  struct BoxRows;
  class BoxBefore;

  void build(Faces faces, const OperatorBefore& before);
  void choose_boxes();
  void make_wide_rows(Build& build, int level);
  void append_rows(BoxRows&& box, Build& build);
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
  GlobalNumber global_number(std::int32_t column) const;  ///< of an own unknown, or n_own + an index in remote_
  /// @param offset  of an irregular VoF, from the centre of its cell, in h
  std::vector<Vec3> points(const std::function<Vec3(const VofMoments&, const VofCenter&)>& offset) const;

  Comm comm_;
  const Geometry* geometry_;
  EllipticProblem problem_;
  WallForm form_;
  bool symmetric_ = false;
  std::shared_ptr<const Composite> composite_;
  const CompositeNumbering& numbering_;
  std::vector<OperatorHalo> parts_;  // of the levels
  RemoteValues<double> remote_;
  Array<double> many_remote_;  // the same for several vectors side by side; empty before
  WideRows wide_;
  std::vector<std::uint8_t> wide_flags_;  // row_flags
  MethodsOfRows methods_;                 // of the wide rows
  std::vector<TermsOfBox> box_terms_;     // per window
  std::unique_ptr<const FaceStencils> faces_;
  BoundaryTerms boundary_;
  WallConditionAt first_wall_;          // before set_wall()
  RemoteValues<RateAndValue> foreign_;  // of set_wall(), at the pieces of other ranks
  std::vector<AskedWall> asked_walls_;  // by other ranks, as foreign_ sends them
  std::vector<double> wall_values_;     // of set_wall(), per wall term; empty before
  std::shared_ptr<WallField> wall_;     // of set_wall(): rates and values; nullptr before
  std::vector<double> coefficients_;
  std::vector<std::shared_ptr<const ForeignWalls>> foreign_walls_;  // to which wall terms of other ranks refer
  int version_ = 0;
  std::vector<BoxWork> interior_, border_;
  std::vector<Array<double>> scratch_;  // per thread: x with halo, then y
  std::size_t scratch_size_ = 0;
  RowCounts counts_;
};

}  // namespace karst

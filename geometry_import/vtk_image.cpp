// SPDX-License-Identifier: BSD-3-Clause
// MetaImage, NRRD, NIfTI and VTI through VTK's readers, which read the whole image at once.
#include <vtkCallbackCommand.h>
#include <vtkDataArray.h>
#include <vtkExecutive.h>
#include <vtkImageData.h>
#include <vtkImageReader2.h>
#include <vtkMetaImageReader.h>
#include <vtkNIFTIImageHeader.h>
#include <vtkNIFTIImageReader.h>
#include <vtkNew.h>
#include <vtkNrrdReader.h>
#include <vtkPointData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLImageDataReader.h>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

void keep_error(vtkObject*, unsigned long, void* into, void* message) {
  if (message) *static_cast<std::string*>(into) = static_cast<const char*>(message);
}

/// Runs a reader and returns its image; VTK's complaints become Error.
template <class R>
vtkSmartPointer<vtkImageData> run(R& reader, const std::string& path) {
  std::string complaint;
  vtkNew<vtkCallbackCommand> listener;
  listener->SetCallback(keep_error);
  listener->SetClientData(&complaint);
  reader.AddObserver(vtkCommand::ErrorEvent, listener);
  reader.GetExecutive()->AddObserver(vtkCommand::ErrorEvent, listener);
  reader.SetFileName(path.c_str());
  reader.Update();
  reader.RemoveObservers(vtkCommand::ErrorEvent);
  reader.GetExecutive()->RemoveObservers(vtkCommand::ErrorEvent);
  require(complaint.empty() && reader.GetErrorCode() == 0, "{}: cannot be read: {}", path,
          complaint.empty() ? "damaged or of another format" : complaint);
  return reader.GetOutput();
}

VoxelType type_of(const vtkDataArray& values, const std::string& path) {
  const int bytes = const_cast<vtkDataArray&>(values).GetDataTypeSize();
  const int type = const_cast<vtkDataArray&>(values).GetDataType();
  if (type == VTK_FLOAT) return VoxelType::float32;
  if (type == VTK_DOUBLE) return VoxelType::float64;
  const bool sign = const_cast<vtkDataArray&>(values).GetDataTypeMin() < 0;
  if (bytes == 1) return sign ? VoxelType::int8 : VoxelType::uint8;
  if (bytes == 2) return sign ? VoxelType::int16 : VoxelType::uint16;
  require(bytes == 4, "{}: voxels of {} bytes; integers of 1, 2 or 4 bytes, float and double are read", path, bytes);
  return sign ? VoxelType::int32 : VoxelType::uint32;
}

/// Metres per unit of a NIfTI header; 0 when it names none.
double nifti_unit(int code) {
  switch (code & 7) {
    case 1:
      return 1.0;
    case 2:
      return 1e-3;
    case 3:
      return 1e-6;
    default:
      return 0.0;
  }
}

void set_voxel(ImageInfo& info, vtkImageData& image, double unit) {
  const double* s = image.GetSpacing();
  const bool all_one = s[0] == 1 && s[1] == 1 && s[2] == 1;
  if (unit > 0 && !all_one) {
    set_cubic_voxel(info, {unit * s[0], unit * s[1], unit * s[2]});
  } else {
    info.voxel_note = fmt::format("its spacing {} x {} x {} has no unit", s[0], s[1], s[2]);
  }
}

class VtkImage : public ImageFile {
 public:
  VtkImage(ImageInfo description, vtkSmartPointer<vtkImageData> image)
      : ImageFile(std::move(description)), image_(std::move(image)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const auto bytes = static_cast<std::size_t>(bytes_of(info().type));
    const char* all = static_cast<const char*>(image_->GetPointData()->GetScalars()->GetVoidPointer(0));
    to_float(all + static_cast<std::size_t>(z) * values.size() * bytes, info().type, values);
  }
  vtkSmartPointer<vtkImageData> image_;
};

struct Loaded {
  vtkSmartPointer<vtkImageData> image;
  std::string format;
  double unit = 0;  ///< of the spacing [m]; 0 when the file names none
};

Loaded load(const std::string& path, SelfDescribing format) {
  switch (format) {
    case SelfDescribing::meta_image: {
      vtkNew<vtkMetaImageReader> reader;
      return {run(*reader, path), "MetaImage", 1e-3};  // the format counts in millimetres
    }
    case SelfDescribing::nrrd: {
      vtkNew<vtkNrrdReader> reader;
      return {run(*reader, path), "NRRD", 0};
    }
    case SelfDescribing::nifti: {
      vtkNew<vtkNIFTIImageReader> reader;
      auto image = run(*reader, path);
      vtkNIFTIImageHeader* header = reader->GetNIFTIHeader();
      return {image, "NIfTI", header ? nifti_unit(header->GetXYZTUnits()) : 0};
    }
    default: {
      vtkNew<vtkXMLImageDataReader> reader;
      return {run(*reader, path), "VTI", 0};
    }
  }
}

}  // namespace

std::unique_ptr<ImageFile> open_with_vtk(const std::string& path, SelfDescribing format) {
  Loaded loaded = load(path, format);
  ImageInfo info;
  info.path = path;
  info.format = loaded.format;
  const int* n = loaded.image->GetDimensions();
  info.size = {n[0], n[1], n[2]};
  require(n[0] > 0 && n[1] > 0 && n[2] > 0, "{}: holds no voxels ({} x {} x {})", path, n[0], n[1], n[2]);
  if (!loaded.image->GetPointData()->GetScalars() && loaded.image->GetPointData()->GetNumberOfArrays() > 0)
    loaded.image->GetPointData()->SetActiveScalars(loaded.image->GetPointData()->GetArrayName(0));
  vtkDataArray* values = loaded.image->GetPointData()->GetScalars();
  require(values != nullptr, "{}: holds no values at its points", path);
  require(values->GetNumberOfComponents() == 1,
          "{}: is in colour ({} values per voxel); one gray value per voxel is needed", path,
          values->GetNumberOfComponents());
  info.type = type_of(*values, path);
  set_voxel(info, *loaded.image, loaded.unit);
  return std::make_unique<VtkImage>(std::move(info), std::move(loaded.image));
}

}  // namespace karst

// SPDX-License-Identifier: BSD-3-Clause
// MetaImage, NRRD, NIfTI and VTI through VTK's readers, which read the whole image at once.
#include <vtkCallbackCommand.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkExecutive.h>
#include <vtkImageData.h>
#include <vtkImageReader2.h>
#include <vtkLogger.h>
#include <vtkMetaImageReader.h>
#include <vtkNIFTIImageHeader.h>
#include <vtkNIFTIImageReader.h>
#include <vtkNew.h>
#include <vtkNrrdReader.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPointData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLImageDataReader.h>

#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

/// Takes what VTK would print: a file that ends early is a mere warning there, and the values are what memory held.
class Listener : public vtkOutputWindow {
 public:
  vtkTypeMacro(Listener, vtkOutputWindow) static Listener* New();
  void DisplayText(const char* text) override { heard += text; }
  std::string heard;
};
vtkStandardNewMacro(Listener)  // a function: no semicolon

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
  const vtkSmartPointer<vtkOutputWindow> usual = vtkOutputWindow::GetInstance();
  vtkNew<Listener> window;
  vtkOutputWindow::SetInstance(window);
  vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  std::ostringstream printed;  // MetaIO prints
  std::streambuf* const screen = std::cerr.rdbuf(printed.rdbuf());
  reader.Update();
  std::cerr.rdbuf(screen);
  vtkOutputWindow::SetInstance(usual);
  reader.RemoveObservers(vtkCommand::ErrorEvent);
  reader.GetExecutive()->RemoveObservers(vtkCommand::ErrorEvent);
  require(complaint.empty() && reader.GetErrorCode() == 0, "{}: cannot be read: {}", path,
          complaint.empty() ? "damaged or of another format" : complaint);
  const bool short_file = window->heard.find("File operation failed") != std::string::npos ||
                          printed.str().find("not read completely") != std::string::npos;
  require(!short_file, "{}: ends early or is damaged", path);
  return reader.GetOutput();
}

VoxelType type_of(vtkDataArray& values, const std::string& path) {
  const int bytes = values.GetDataTypeSize();
  const int type = values.GetDataType();
  if (type == VTK_FLOAT) return VoxelType::float32;
  if (type == VTK_DOUBLE) return VoxelType::float64;
  const bool sign = values.GetDataTypeMin() < 0;
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

class VtkImage : public ImageFile {
 public:
  VtkImage(ImageInfo description, vtkSmartPointer<vtkDataArray> values)
      : ImageFile(std::move(description)), values_(std::move(values)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const auto bytes = static_cast<std::size_t>(bytes_of(info().type));
    const char* all = static_cast<const char*>(values_->GetVoidPointer(0));
    to_float(all + static_cast<std::size_t>(z) * values.size() * bytes, info().type, values);
  }
  vtkSmartPointer<vtkDataArray> values_;
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

/// The first array of the points or, in images that keep their voxels as cells, of the cells (then sizes are one less).
vtkSmartPointer<vtkDataArray> values_of(vtkImageData& image, ImageInfo& info) {
  const int* n = image.GetDimensions();
  info.size = {n[0], n[1], n[2]};
  if (vtkDataArray* points = image.GetPointData()->GetArray(0)) return points;
  info.size = info.size - Index::all(1);
  return image.GetCellData()->GetArray(0);
}

}  // namespace

std::unique_ptr<ImageFile> open_with_vtk(const std::string& path, SelfDescribing format,
                                         const std::optional<TextHeader>& stated) {
  const Loaded loaded = load(path, format);
  ImageInfo info;
  if (stated) info = stated->info;
  info.path = path;
  info.format = loaded.format;
  info.held_whole = true;
  const Index from_header = info.size;
  vtkSmartPointer<vtkDataArray> values = values_of(*loaded.image, info);
  const auto product = [](const Index& n) { return vtkIdType{n[0]} * n[1] * n[2]; };
  // VTK takes the first size of a NRRD file for components when the file says nothing of space.
  if (values && stated && values->GetNumberOfValues() == product(from_header)) {
    info.size = from_header;
    values->SetNumberOfComponents(1);
  }
  const Index n = info.size;
  require(values != nullptr && n[0] > 0 && n[1] > 0 && n[2] > 0, "{}: holds no voxels", path);
  const vtkIdType held = values->GetNumberOfTuples(), needed = product(n);
  require(held == needed, "{}: {} x {} x {} voxels need {} values, it holds {}", path, n[0], n[1], n[2], needed, held);
  require(values->GetNumberOfComponents() == 1,
          "{}: is in colour ({} values per voxel); one gray value per voxel is needed", path,
          values->GetNumberOfComponents());
  info.type = type_of(*values, path);
  if (!stated) {
    const double* s = loaded.image->GetSpacing();
    set_spacing(info, {s[0], s[1], s[2]}, loaded.unit);
  }
  return std::make_unique<VtkImage>(std::move(info), std::move(values));
}

}  // namespace karst
